import type { AccountRole } from '../accounts/principal.ts';
import type { VerbName } from '../operator/operator.ts';

/** Who may use a route: operators, whoever has at least this role in the account, or anybody who is known. */
export type Access = 'operator' | { readonly role: AccountRole } | 'anybody';

export interface ManageRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/manage/v1`; a part in braces is a member of the verb's input. */
  readonly path: string;
  readonly verb: VerbName | 'me' | 'own.accounts';
  readonly access: Access;
  /** Which member of the input names the account, or the key whose account counts. */
  readonly scope?: 'account' | 'key';
  /** `If-Match` may carry the version that the change was made to. */
  readonly versioned?: true;
  readonly summary: string;
}

const OWNER: Access = { role: 'owner' };
const VIEWER: Access = { role: 'viewer' };

/** Every route of the management API. The matrix of who may do what is tested from this table. */
export const MANAGE_ROUTES: readonly ManageRoute[] = [
  { method: 'GET', path: '/me', verb: 'me', access: 'anybody', summary: 'Who the request is from, and its roles.' },
  {
    method: 'GET',
    path: '/accounts',
    verb: 'own.accounts',
    access: 'anybody',
    summary: 'All accounts for an operator, else those in which the caller has a role.',
  },
  {
    method: 'POST',
    path: '/accounts',
    verb: 'accounts.create',
    access: 'operator',
    summary: 'Creates an account.',
  },
  {
    method: 'POST',
    path: '/accounts/{account}/credits',
    verb: 'accounts.credit',
    access: 'operator',
    summary: 'Adds money to an account, or removes it. The same reference is credited once.',
  },
  {
    method: 'GET',
    path: '/accounts/{account}/balance',
    verb: 'balance.show',
    access: VIEWER,
    scope: 'account',
    summary: 'The balance of an account.',
  },
  {
    method: 'GET',
    path: '/accounts/{account}/members',
    verb: 'members.list',
    access: OWNER,
    scope: 'account',
    summary: 'The people with a role in an account.',
  },
  {
    method: 'PUT',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.put',
    access: OWNER,
    scope: 'account',
    summary: 'Gives a person a role in an account, or replaces role and cap.',
  },
  {
    method: 'DELETE',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.remove',
    access: OWNER,
    scope: 'account',
    summary: 'Takes the role in an account away.',
  },
  {
    method: 'GET',
    path: '/keys',
    verb: 'keys.list',
    access: VIEWER,
    scope: 'account',
    summary: 'Gateway keys, of one account with `account`.',
  },
  {
    method: 'POST',
    path: '/keys',
    verb: 'keys.mint',
    access: OWNER,
    scope: 'account',
    summary: 'Creates a gateway key. Its secret is shown only in this response.',
  },
  {
    method: 'PATCH',
    path: '/keys/{key}',
    verb: 'keys.update',
    access: OWNER,
    scope: 'key',
    summary: 'Changes what is named.',
  },
  {
    method: 'POST',
    path: '/keys/{key}/revoke',
    verb: 'keys.revoke',
    access: OWNER,
    scope: 'key',
    summary: 'Revokes a gateway key for good.',
  },
  {
    method: 'GET',
    path: '/receipts',
    verb: 'receipts.list',
    access: 'operator',
    summary: 'Receipts, the newest first, by account, key and time.',
  },
  {
    method: 'GET',
    path: '/receipts/{receipt}',
    verb: 'receipts.show',
    access: 'operator',
    summary: 'One receipt, with host, attempts and loss.',
  },
  { method: 'GET', path: '/models', verb: 'models.list', access: 'anybody', summary: 'The models that are served.' },
  { method: 'GET', path: '/people', verb: 'people.list', access: 'operator', summary: 'All people.' },
  {
    method: 'GET',
    path: '/people/{person}',
    verb: 'people.show',
    access: 'operator',
    summary: 'A person and their roles.',
  },
  {
    method: 'PATCH',
    path: '/people/{person}',
    verb: 'people.update',
    access: 'operator',
    versioned: true,
    summary: 'Changes the name of a person, or whether they are an operator.',
  },
  {
    method: 'POST',
    path: '/people/{person}/disable',
    verb: 'people.disable',
    access: 'operator',
    summary: 'Ends the sessions of a person and revokes the management keys they minted.',
  },
  {
    method: 'POST',
    path: '/people/{person}/enable',
    verb: 'people.enable',
    access: 'operator',
    summary: 'Lets a disabled person sign in again.',
  },
  {
    method: 'POST',
    path: '/people/{person}/reset',
    verb: 'people.reset',
    access: 'operator',
    summary: 'Makes a link with which a person sets a new password.',
  },
  {
    method: 'GET',
    path: '/people/{person}/sessions',
    verb: 'people.sessions',
    access: 'operator',
    summary: 'Where a person is signed in.',
  },
  {
    method: 'POST',
    path: '/people/{person}/sign-out',
    verb: 'people.signout',
    access: 'operator',
    summary: 'Ends all sessions of a person.',
  },
  {
    method: 'DELETE',
    path: '/sessions/{session}',
    verb: 'sessions.end',
    access: 'operator',
    summary: 'Ends one session.',
  },
  { method: 'GET', path: '/invitations', verb: 'invitations.list', access: 'operator', summary: 'All invitations.' },
  {
    method: 'POST',
    path: '/invitations',
    verb: 'people.invite',
    access: 'operator',
    summary: 'Makes a link with which somebody can sign in. It is shown only in this response.',
  },
  {
    method: 'DELETE',
    path: '/invitations/{invitation}',
    verb: 'invitations.revoke',
    access: 'operator',
    summary: 'Revokes an invitation that is still open.',
  },
  {
    method: 'GET',
    path: '/management-keys',
    verb: 'managementkeys.list',
    access: 'operator',
    summary: 'Management keys, of one account with `account`.',
  },
  {
    method: 'POST',
    path: '/management-keys',
    verb: 'managementkeys.mint',
    access: 'operator',
    summary: 'Creates a management key, with the token of local mode. Its secret is shown only in this response.',
  },
  {
    method: 'DELETE',
    path: '/management-keys/{management_key}',
    verb: 'managementkeys.revoke',
    access: 'operator',
    summary: 'Revokes a management key for good.',
  },
  {
    method: 'GET',
    path: '/audit',
    verb: 'audit.list',
    access: OWNER,
    scope: 'account',
    summary: 'Who changed what, the newest first.',
  },
  { method: 'GET', path: '/system', verb: 'status', access: 'operator', summary: 'Version, store and server.' },
];

export interface FoundRoute {
  readonly route: ManageRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a path below `/manage/v1`, or the methods that the path has. */
export function findRoute(method: string, path: string): FoundRoute | { readonly methods: readonly string[] } {
  const parts = path.split('/');
  const methods: string[] = [];
  for (const route of MANAGE_ROUTES) {
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
