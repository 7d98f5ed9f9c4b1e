import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import type { ManagementKey, Person } from '../store/people.ts';
import { hashSecret, isManagementSecret } from './keys.ts';
import type { Principal } from './principal.ts';
import { findSession } from './sessions.ts';

export interface ManagerTerms {
  readonly directory: Directory;
  readonly clock: Clock;
  /** The token of the data folder in local mode; null in hosted mode. */
  readonly localToken: string | null;
  /** False in local mode and without https: no cookie is read. */
  readonly takesCookies: boolean;
}

/** The credentials of a request. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The client's network address, for the audit. */
  readonly address: string | null;
  /** False for repeated checks during a long response: a page that is left open must not prolong a session. */
  readonly isUse?: boolean;
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/**
 * The only authentication of the management API. A gateway key gives no access here, whatever its permissions. A request with an
 * `Authorization` header is judged by that alone, even if it carries a valid cookie. Null if the request proves nothing.
 */
export async function authenticateManager(
  { authorization, cookie, address, isUse = true }: Credentials,
  terms: ManagerTerms,
): Promise<Principal | null> {
  if (authorization === undefined) return terms.takesCookies ? personOf(cookie, address, isUse, terms) : null;
  const secret = BEARER.exec(authorization)?.[1];
  if (secret === undefined || secret.length > LIMITS.managementSecretCharsMax) return null;
  if (terms.localToken !== null && isEqual(secret, terms.localToken)) return localOperator(address);
  if (!isManagementSecret(secret)) return null;
  const key = await terms.directory.findManagementKeyByHash(hashSecret(secret));
  return key === null ? null : principalOf(key, address, isUse, terms);
}

/** Roles are read at each request, so that one that is taken away ends at once. */
async function personOf(
  cookie: string | undefined,
  address: string | null,
  isUse: boolean,
  terms: ManagerTerms,
): Promise<Principal | null> {
  const found = await findSession(cookie, terms, isUse);
  if (found === null) return null;
  const { person, session } = found;
  const memberships = await terms.directory.membershipsOf(person.id);
  return {
    actor: { kind: 'person', id: person.id, name: person.email, address },
    isOperator: person.isOperator,
    roles: new Map(memberships.map(({ accountId, role }) => [accountId, role])),
    isReadOnly: false,
    sessionId: session.id,
  };
}

function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(given), 'hex'), Buffer.from(hashSecret(expected), 'hex'));
}

/** Whoever can read the token can also open the data folder. */
function localOperator(address: string | null): Principal {
  const actor = { kind: 'command_line', id: null, name: 'local console', address } as const;
  return { actor, isOperator: true, roles: new Map(), isReadOnly: false, sessionId: null };
}

/** A key may never do more than the person who minted it may do now. */
async function principalOf(
  key: ManagementKey,
  address: string | null,
  isUse: boolean,
  { directory, clock }: ManagerTerms,
): Promise<Principal | null> {
  const nowMs = clock.nowMs();
  if (key.revokedMs !== null || (key.expiresMs !== null && key.expiresMs <= nowMs)) return null;
  const minter = key.mintedBy === null ? null : await directory.findPerson(key.mintedBy);
  if (key.mintedBy !== null && !(await mayStillGive(minter, key, directory))) return null;
  if (isUse) await noteUse(key, nowMs, directory);
  return {
    actor: { kind: 'management_key', id: key.id, name: key.name, address, mintedBy: key.mintedBy },
    isOperator: key.accountId === null,
    roles: key.accountId === null || key.role === null ? new Map() : new Map([[key.accountId, key.role]]),
    isReadOnly: key.isReadOnly,
    sessionId: null,
  };
}

async function mayStillGive(minter: Person | null, key: ManagementKey, directory: Directory): Promise<boolean> {
  if (minter === null || minter.disabledMs !== null) return false;
  if (minter.isOperator) return true;
  if (key.accountId === null) return false;
  const memberships = await directory.membershipsOf(minter.id);
  return memberships.some(({ accountId, role }) => accountId === key.accountId && role === 'owner');
}

/** About when: a write for every request would cost more than it tells. */
async function noteUse({ id, usedMs }: ManagementKey, nowMs: number, directory: Directory): Promise<void> {
  if (usedMs === null || nowMs - usedMs >= LIMITS.managementUseMs) await directory.touchManagementKey(id, nowMs);
}
