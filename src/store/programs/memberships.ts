import { LIMITS } from '../../limits.ts';
import { CAP_WINDOW } from '../codes.ts';
import {
  ACCOUNT_ROLES,
  type AuditRow,
  type KnownMembership,
  type Membership,
  type Person,
  type PersonCap,
} from '../people.ts';
import { writeAudit } from './audit.ts';
import { endGrantsIn } from './grants.ts';
import { findPerson } from './people.ts';
import { followPerson, VIEWER } from './person-keys.ts';
import { type Program, query, rowOf, rowsOf } from './program.ts';
import { mayStill } from './standing.ts';

export interface MembershipColumns {
  readonly account_id: bigint;
  readonly person_id: bigint;
  readonly role: bigint;
  readonly cap: bigint | null;
  readonly cap_window: bigint;
}

export function* putMembership(
  membership: Membership,
  audit: AuditRow,
  known?: KnownMembership,
): Program<'stored' | 'no_person' | 'no_account' | 'unconfirmed' | 'changed' | 'not_allowed'> {
  yield { lock: 'people' };
  if (!(yield* mayStill(audit, membership.accountId))) return 'not_allowed';
  const person = yield* findPerson(membership.personId);
  if (person === null) return 'no_person';
  if (!mayJoin(person, membership.accountId)) return 'unconfirmed';
  if ((yield* rowOf('SELECT id FROM account WHERE id = ?', membership.accountId)) === null) return 'no_account';
  if (known !== undefined && !(yield* isStill(known, membership))) return 'changed';
  yield* storeMembership(membership, audit.atMs);
  yield* writeAudit(audit);
  return 'stored';
}

/** Roles and caps change only under the lock of people. */
function* isStill(known: KnownMembership, { accountId, personId }: Membership): Program<boolean> {
  const now = (yield* membershipsOf(personId)).find((each) => each.accountId === accountId);
  const cap = yield* findPersonCap(accountId, personId);
  const isSameCap = cap?.capNanousd === known.cap?.capNanousd && cap?.capWindow === known.cap?.capWindow;
  return (now?.role ?? null) === known.role && isSameCap;
}

/** An owner can invite any address, so an invitation proves nothing to other accounts. */
export function mayJoin({ unconfirmedIn }: Person, accountId: bigint | null): boolean {
  return unconfirmedIn === null || unconfirmedIn === accountId;
}

/** Under the account's lock: a batch reads a cap and then its window, and both must be from the same moment. */
export function* storeMembership(membership: Membership, nowMs: number): Program<void> {
  const { accountId, personId } = membership;
  yield { lock: 'account', id: accountId };
  const before = (yield* membershipsOf(personId)).find((each) => each.accountId === accountId);
  yield query(
    `INSERT INTO membership (account_id, person_id, role, cap, cap_window) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (account_id, person_id)
     DO UPDATE SET role = excluded.role, cap = excluded.cap, cap_window = excluded.cap_window`,
    accountId,
    personId,
    ACCOUNT_ROLES.indexOf(membership.role),
    membership.capNanousd,
    CAP_WINDOW.of[membership.capWindow],
  );
  yield query('DELETE FROM former_member WHERE account_id = ? AND person_id = ?', accountId, personId);
  yield* followPerson(personId, nowMs);
  if (before?.role === 'owner' && membership.role !== 'owner') yield* endGrantsIn(accountId, personId, nowMs);
}

/** Ends the person's keys in the account and open links for them, until the person has a role there again. */
export function* removeMembership(
  accountId: bigint,
  personId: bigint,
  audit: AuditRow,
): Program<boolean | 'not_allowed'> {
  yield { lock: 'people' };
  if (!(yield* mayStill(audit, accountId))) return 'not_allowed';
  yield { lock: 'account', id: accountId };
  const removed = yield* rowOf<MembershipColumns>(
    'DELETE FROM membership WHERE account_id = ? AND person_id = ? RETURNING *',
    accountId,
    personId,
  );
  if (removed === null) return false;
  yield* keepCap(membershipOf(removed));
  yield query(
    `UPDATE invitation SET revoked_ms = ? WHERE account_id = ? AND accepted_ms IS NULL AND revoked_ms IS NULL
       AND email_key = (SELECT email_key FROM person WHERE id = ?)`,
    audit.atMs,
    accountId,
    personId,
  );
  yield* followPerson(personId, audit.atMs);
  if (membershipOf(removed).role === 'owner') yield* endGrantsIn(accountId, personId, audit.atMs);
  yield* writeAudit(audit);
  return true;
}

/** A person who leaves an account and comes back has the same cap as before. */
function* keepCap({ accountId, personId, capNanousd, capWindow }: Membership): Program<void> {
  yield query(
    `INSERT INTO former_member (account_id, person_id, cap, cap_window) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id, person_id) DO UPDATE SET cap = excluded.cap, cap_window = excluded.cap_window`,
    accountId,
    personId,
    capNanousd,
    CAP_WINDOW.of[capWindow],
  );
}

/** The cap that the person has in the account, or had when they left it; null if they never had a role there. */
export function* findPersonCap(accountId: bigint, personId: bigint): Program<PersonCap | null> {
  const row = yield* rowOf<Pick<MembershipColumns, 'cap' | 'cap_window'>>(
    `SELECT cap, cap_window FROM membership WHERE account_id = ? AND person_id = ?
     UNION ALL SELECT cap, cap_window FROM former_member WHERE account_id = ? AND person_id = ?`,
    accountId,
    personId,
    accountId,
    personId,
  );
  return row === null ? null : { capNanousd: row.cap, capWindow: CAP_WINDOW.word(row.cap_window) };
}

/** Why a person can have no further key in the account; null if they can. Viewers and disabled people have none. */
export function* keyRefusal(accountId: bigint, personId: bigint): Program<'no_member' | 'too_many_keys' | null> {
  const found = yield* rowOf(
    `SELECT person.id FROM membership JOIN person ON person.id = person_id
     WHERE account_id = ? AND person_id = ? AND disabled_ms IS NULL AND role <> ${VIEWER}`,
    accountId,
    personId,
  );
  if (found === null) return 'no_member';
  const keys = yield* rowOf<{ count: bigint }>(
    'SELECT count(*) AS count FROM api_key WHERE person_id = ? AND account_id = ? AND revoked_ms IS NULL',
    personId,
    accountId,
  );
  return keys!.count >= LIMITS.keysPerPersonMax ? 'too_many_keys' : null;
}

export function* membershipsOf(personId: bigint): Program<Membership[]> {
  const rows = yield* rowsOf<MembershipColumns>(
    'SELECT * FROM membership WHERE person_id = ? ORDER BY account_id',
    personId,
  );
  return rows.map(membershipOf);
}

export function membershipOf(row: MembershipColumns): Membership {
  return {
    accountId: row.account_id,
    personId: row.person_id,
    role: ACCOUNT_ROLES[Number(row.role)]!,
    capNanousd: row.cap,
    capWindow: CAP_WINDOW.word(row.cap_window),
  };
}
