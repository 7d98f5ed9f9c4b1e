import { GatewayError } from '../canonical/errors.ts';
import { KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { parseId } from '../kit/ids.ts';
import type { KeyRow } from '../store/store.ts';
import { authenticateManager, type ManagerTerms } from './authenticate-manager.ts';
import { faultOfCookiePage, isForeignPage, type PageRequest } from './own-page.ts';
import { hasRole, type Principal } from './principal.ts';

/** The header in which our own page names the key that pays. A page of another site cannot send it. */
export const KEY_CHOICE = 'x-gateway-key';

export interface PageGate extends ManagerTerms {
  findKey(id: bigint): Promise<KeyRow | null>;
  /** Origins under which this gateway is reached, exactly: scheme, host and port. */
  ownOrigins(): readonly string[];
  /** The origin of `public_url`, the only one whose pages may use a cookie. */
  readonly publicOrigin: string | null;
}

/**
 * The key that our own page has chosen for a call: the person proves who they are as for the management API, and the key
 * must be one that they may use. It may be disabled.
 */
export async function authenticatePage(request: PageRequest, gate: PageGate): Promise<KeyRow | GatewayError> {
  const { authorization, cookie, [KEY_CHOICE]: chosen = '' } = request.headers;
  const principal = await authenticateManager({ authorization, cookie, address: null }, gate);
  if (principal === null) return unusableKey();
  const refused = checkPage(request, principal, gate);
  if (refused !== null) return refused;
  const id = parseId(KEY_PREFIX, chosen);
  const key = id === null ? null : await gate.findKey(id);
  return key !== null && mayUse(principal, key) ? key : unusableKey();
}

/**
 * A person's key may be used by nobody else, not even by an owner: the receipt would say that the person made the call, and
 * their cap would pay. Keys that belong to nobody may be used by whoever may mint them.
 */
function mayUse(principal: Principal, { accountId, personId }: KeyRow): boolean {
  const { actor } = principal;
  if (personId === null) return hasRole(principal, accountId, 'owner');
  return actor.kind === 'person' && actor.id === personId && hasRole(principal, accountId, 'member');
}

function checkPage(request: PageRequest, { sessionId }: Principal, gate: PageGate): GatewayError | null {
  if (sessionId === null) return isForeignPage(request, gate.ownOrigins()) ? foreignPage() : null;
  const fault = faultOfCookiePage(request, gate.publicOrigin);
  if (fault === null) return null;
  return fault === 'foreign_page' ? foreignPage() : notJson();
}

/** The same error for every reason, so that it reveals nothing about keys of others. */
function unusableKey(): GatewayError {
  return new GatewayError('invalid_api_key', {
    message: `\`${KEY_CHOICE}\` must be the id of a key that you may use, and needs a session. Sign in and choose one of your keys, or send a key itself as "Authorization: Bearer <key>".`,
  });
}

function foreignPage(): GatewayError {
  return new GatewayError('forbidden_origin', {
    param: 'origin',
    message: `Only pages of this gateway, at its \`public_url\`, may choose a key with \`${KEY_CHOICE}\`.`,
  });
}

function notJson(): GatewayError {
  return new GatewayError('unsupported_media_type', {
    param: 'content-type',
    message: 'The body must be JSON: send `content-type: application/json`.',
  });
}
