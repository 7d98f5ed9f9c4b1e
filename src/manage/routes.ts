import { ACCOUNTS_ROUTES } from './resources/accounts.ts';
import { ALERTS_ROUTES } from './resources/alerts.ts';
import { AUDIT_ROUTES } from './resources/audit.ts';
import { ENTRIES_ROUTES } from './resources/entries.ts';
import { HOSTS_ROUTES } from './resources/hosts.ts';
import { INVITATIONS_ROUTES } from './resources/invitations.ts';
import { JOBS_ROUTES } from './resources/jobs.ts';
import { KEYS_ROUTES } from './resources/keys.ts';
import { MANAGEMENT_KEYS_ROUTES } from './resources/management-keys.ts';
import { ME_ROUTES } from './resources/me.ts';
import { MEMBERS_ROUTES } from './resources/members.ts';
import { MODELS_ROUTES } from './resources/models.ts';
import { PEOPLE_ROUTES } from './resources/people.ts';
import { PROVIDER_KEYS_ROUTES } from './resources/provider-keys.ts';
import { RECEIPTS_ROUTES } from './resources/receipts.ts';
import { REFUSALS_ROUTES } from './resources/refusals.ts';
import { SESSIONS_ROUTES } from './resources/sessions.ts';
import { SIGNED_RECEIPTS_ROUTES } from './resources/signed-receipts.ts';
import { SYSTEM_ROUTES } from './resources/system.ts';
import { USAGE_ROUTES } from './resources/usage.ts';
import { WEBHOOKS_ROUTES } from './resources/webhooks.ts';
import type { ManageRoute } from './route.ts';

export type { ManageRoute } from './route.ts';

/** Every route of the management API. The matrix of who may do what is tested from this table. */
export const MANAGE_ROUTES: readonly ManageRoute[] = [
  ...ME_ROUTES,
  ...ACCOUNTS_ROUTES,
  ...ENTRIES_ROUTES,
  ...MEMBERS_ROUTES,
  ...KEYS_ROUTES,
  ...PROVIDER_KEYS_ROUTES,
  ...WEBHOOKS_ROUTES,
  ...ALERTS_ROUTES,
  ...JOBS_ROUTES,
  ...RECEIPTS_ROUTES,
  ...SIGNED_RECEIPTS_ROUTES,
  ...REFUSALS_ROUTES,
  ...USAGE_ROUTES,
  ...MODELS_ROUTES,
  ...HOSTS_ROUTES,
  ...PEOPLE_ROUTES,
  ...SESSIONS_ROUTES,
  ...INVITATIONS_ROUTES,
  ...MANAGEMENT_KEYS_ROUTES,
  ...AUDIT_ROUTES,
  ...SYSTEM_ROUTES,
];

/** What every table of routes has. */
type Place = Pick<ManageRoute, 'method' | 'path' | 'versioned'>;

export interface FoundRoute<Route extends Place = ManageRoute> {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a path below `/manage/v1`, or the methods that the path has. */
export function findRoute<Route extends Place>(
  table: readonly Route[],
  method: string,
  path: string,
): FoundRoute<Route> | { readonly methods: readonly string[] } {
  const parts = path.split('/');
  const methods: string[] = [];
  for (const route of table) {
    const params = match(route.path.split('/'), parts);
    if (params === null) continue;
    if (route.method === method) return { route, params };
    methods.push(route.method);
  }
  return { methods };
}

function match(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const given = parts[at]!;
    if (!expected.startsWith('{')) {
      if (expected !== given) return null;
    } else if (given === '') return null;
    else params[expected.slice(1, -1)] = given;
  }
  return params;
}
