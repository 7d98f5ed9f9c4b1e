import { CAP_WINDOW } from '../codes.ts';
import {
  ACCOUNT_ROLES,
  type AuditRow,
  type Membership,
  type NewPerson,
  type Person,
  type PersonChange,
  type SsoIdentity,
} from '../people.ts';
import { writeAudit } from './audit.ts';
import { followPerson } from './person-keys.ts';
import { insert, type Program, query, rowOf, rowsOf, type SqlValue } from './program.ts';

export interface PersonColumns {
  readonly id: bigint;
  readonly email: string;
  readonly name: string;
  readonly password: string | null;
  readonly sso_issuer: string | null;
  readonly sso_subject: string | null;
  readonly operator: bigint;
  readonly created_ms: bigint;
  readonly disabled_ms: bigint | null;
  readonly version: bigint;
}

export interface MembershipColumns {
  readonly account_id: bigint;
  readonly person_id: bigint;
  readonly role: bigint;
  readonly cap: bigint | null;
  readonly cap_window: bigint;
}

/** Addresses that differ only in case are the same address. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

export function* createPerson(person: NewPerson, audit: AuditRow): Program<'created' | 'email_taken'> {
  yield { lock: 'people' };
  if ((yield* findPersonByEmail(person.email)) !== null) return 'email_taken';
  yield insertPerson(person);
  yield* writeAudit(audit);
  return 'created';
}

export function insertPerson(person: NewPerson) {
  return insert('person', {
    id: person.id,
    email: person.email,
    email_key: emailKey(person.email),
    created_ms: person.createdMs,
    version: 1,
    ...cellsOf(person),
  });
}

function cellsOf(change: PersonChange): Record<string, SqlValue> {
  const cells: Record<string, SqlValue> = {};
  if (change.name !== undefined) cells.name = change.name;
  if (change.passwordHash !== undefined) cells.password = change.passwordHash;
  if (change.isOperator !== undefined) cells.operator = change.isOperator ? 1 : 0;
  if (change.identity !== undefined) {
    cells.sso_issuer = change.identity?.issuer ?? null;
    cells.sso_subject = change.identity?.subject ?? null;
  }
  return cells;
}

export function* findPerson(id: bigint): Program<Person | null> {
  return personOrNull(yield* rowOf<PersonColumns>('SELECT * FROM person WHERE id = ?', id));
}

export function* findPersonByEmail(email: string): Program<Person | null> {
  return personOrNull(yield* rowOf<PersonColumns>('SELECT * FROM person WHERE email_key = ?', emailKey(email)));
}

export function* findPersonByIdentity({ issuer, subject }: SsoIdentity): Program<Person | null> {
  return personOrNull(
    yield* rowOf<PersonColumns>('SELECT * FROM person WHERE sso_issuer = ? AND sso_subject = ?', issuer, subject),
  );
}

export function* listPeople(page: { readonly after: bigint | null; readonly limit: number }): Program<Person[]> {
  const rows = yield* rowsOf<PersonColumns>(
    'SELECT * FROM person WHERE id > ? ORDER BY id LIMIT ?',
    page.after ?? 0n,
    page.limit,
  );
  return rows.map(personOf);
}

/** `version_conflict`: somebody changed the person since the expected version was read. */
export function* changePerson(
  id: bigint,
  change: PersonChange,
  expectedVersion: bigint | null,
  audit: AuditRow,
): Program<Person | 'not_found' | 'version_conflict' | 'identity_taken'> {
  yield { lock: 'people' };
  const before = yield* findPerson(id);
  if (before === null) return 'not_found';
  if (expectedVersion !== null && before.version !== expectedVersion) return 'version_conflict';
  if (change.identity != null) {
    const other = yield* findPersonByIdentity(change.identity);
    if (other !== null && other.id !== id) return 'identity_taken';
  }
  const cells = cellsOf(change);
  const changes = Object.keys(cells).map((column) => `${column} = ?, `);
  yield query(`UPDATE person SET ${changes.join('')} version = version + 1 WHERE id = ?`, ...Object.values(cells), id);
  yield* writeAudit(audit);
  return (yield* findPerson(id))!;
}

/** Ends the person's other sessions: whoever knew the old password may have made them. */
export function* setPassword(
  id: bigint,
  change: { readonly passwordHash: string; readonly expectedVersion: bigint; readonly keptSessionId: bigint | null },
  audit: AuditRow,
): Program<'changed' | 'person_changed'> {
  yield { lock: 'people' };
  const changed = yield* rowOf(
    'UPDATE person SET password = ?, version = version + 1 WHERE id = ? AND version = ? AND disabled_ms IS NULL RETURNING id',
    change.passwordHash,
    id,
    change.expectedVersion,
  );
  if (changed === null) return 'person_changed';
  yield query('DELETE FROM session WHERE person_id = ? AND id <> ?', id, change.keptSessionId ?? 0n);
  yield* writeAudit(audit);
  return 'changed';
}

/**
 * Ends the person's sessions, disables their keys and revokes the management keys they minted, in the same commit.
 * Disabling again changes nothing.
 */
export function* disablePerson(id: bigint, nowMs: number, audit: AuditRow): Program<Person | 'not_found'> {
  yield { lock: 'people' };
  const before = yield* findPerson(id);
  if (before === null) return 'not_found';
  if (before.disabledMs !== null) return before;
  yield query('UPDATE person SET disabled_ms = ?, version = version + 1 WHERE id = ?', nowMs, id);
  yield query('DELETE FROM session WHERE person_id = ?', id);
  yield query('UPDATE management_key SET revoked_ms = ? WHERE minted_by = ? AND revoked_ms IS NULL', nowMs, id);
  yield* followPerson(id, nowMs);
  yield* writeAudit(audit);
  return (yield* findPerson(id))!;
}

/** The person may sign in again, and their keys work again; their management keys stay revoked. */
export function* enablePerson(id: bigint, audit: AuditRow): Program<Person | 'not_found'> {
  yield { lock: 'people' };
  const before = yield* findPerson(id);
  if (before === null) return 'not_found';
  if (before.disabledMs === null) return before;
  yield query('UPDATE person SET disabled_ms = NULL, version = version + 1 WHERE id = ?', id);
  yield* followPerson(id, audit.atMs);
  yield* writeAudit(audit);
  return (yield* findPerson(id))!;
}

export function* putMembership(
  membership: Membership,
  audit: AuditRow,
): Program<'stored' | 'no_person' | 'no_account'> {
  yield { lock: 'people' };
  if ((yield* findPerson(membership.personId)) === null) return 'no_person';
  if ((yield* rowOf('SELECT id FROM account WHERE id = ?', membership.accountId)) === null) return 'no_account';
  yield* storeMembership(membership, audit.atMs);
  yield* writeAudit(audit);
  return 'stored';
}

/** Under the account's lock: a batch reads a cap and then its window, and both must be from the same moment. */
export function* storeMembership(membership: Membership, nowMs: number): Program<void> {
  yield { lock: 'account', id: membership.accountId };
  yield query(
    `INSERT INTO membership (account_id, person_id, role, cap, cap_window) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (account_id, person_id)
     DO UPDATE SET role = excluded.role, cap = excluded.cap, cap_window = excluded.cap_window`,
    membership.accountId,
    membership.personId,
    ACCOUNT_ROLES.indexOf(membership.role),
    membership.capNanousd,
    CAP_WINDOW.of[membership.capWindow],
  );
  yield* followPerson(membership.personId, nowMs);
}

/** The person's keys in the account stop working, until the person has a role there again. */
export function* removeMembership(accountId: bigint, personId: bigint, audit: AuditRow): Program<boolean> {
  yield { lock: 'people' };
  yield { lock: 'account', id: accountId };
  const removed = yield* rowOf(
    'DELETE FROM membership WHERE account_id = ? AND person_id = ? RETURNING person_id',
    accountId,
    personId,
  );
  if (removed === null) return false;
  yield* followPerson(personId, audit.atMs);
  yield* writeAudit(audit);
  return true;
}

/** Whether the person has a role in the account and is not disabled. */
export function* isMember(accountId: bigint, personId: bigint): Program<boolean> {
  const found = yield* rowOf(
    `SELECT person.id FROM membership JOIN person ON person.id = person_id
     WHERE account_id = ? AND person_id = ? AND disabled_ms IS NULL`,
    accountId,
    personId,
  );
  return found !== null;
}

export function* membershipsOf(personId: bigint): Program<Membership[]> {
  const rows = yield* rowsOf<MembershipColumns>(
    'SELECT * FROM membership WHERE person_id = ? ORDER BY account_id',
    personId,
  );
  return rows.map(membershipOf);
}

function personOrNull(row: PersonColumns | null): Person | null {
  return row === null ? null : personOf(row);
}

export function personOf(row: PersonColumns): Person {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    passwordHash: row.password,
    identity:
      row.sso_issuer === null || row.sso_subject === null ? null : { issuer: row.sso_issuer, subject: row.sso_subject },
    isOperator: row.operator === 1n,
    createdMs: Number(row.created_ms),
    disabledMs: row.disabled_ms === null ? null : Number(row.disabled_ms),
    version: row.version,
  };
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
