import type { AuditRow, NewPerson, Person, PersonChange, SsoIdentity } from '../people.ts';
import { writeAudit } from './audit.ts';
import { endGrantsOfOperator } from './grants.ts';
import { followPerson } from './person-keys.ts';
import { insert, type Program, query, rowOf, rowsOf, type SqlValue } from './program.ts';
import { mayStill } from './standing.ts';

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
  readonly unconfirmed_in: bigint | null;
  readonly version: bigint;
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

export function insertPerson(person: NewPerson, unconfirmedIn: bigint | null = null) {
  return insert('person', {
    id: person.id,
    email: person.email,
    email_key: emailKey(person.email),
    created_ms: person.createdMs,
    version: 1,
    unconfirmed_in: unconfirmedIn,
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
): Program<Person | 'not_found' | 'version_conflict' | 'identity_taken' | 'unconfirmed' | 'not_allowed'> {
  yield { lock: 'people' };
  if (!(yield* mayStill(audit, null))) return 'not_allowed';
  const before = yield* findPerson(id);
  if (before === null) return 'not_found';
  if (expectedVersion !== null && before.version !== expectedVersion) return 'version_conflict';
  if (change.isOperator === true && before.unconfirmedIn !== null) return 'unconfirmed';
  if (change.identity != null) {
    const other = yield* findPersonByIdentity(change.identity);
    if (other !== null && other.id !== id) return 'identity_taken';
  }
  const cells = cellsOf(change);
  const changes = Object.keys(cells).map((column) => `${column} = ?, `);
  yield query(`UPDATE person SET ${changes.join('')} version = version + 1 WHERE id = ?`, ...Object.values(cells), id);
  if (before.isOperator && change.isOperator === false) yield* endGrantsOfOperator(id, audit.atMs);
  yield* writeAudit(audit);
  return (yield* findPerson(id))!;
}

/**
 * Replaces the identity of single sign-on and ends the person's other sessions. If the provider has verified the
 * person's address, it is confirmed from now on; the password ends then, since whoever invited the person may know it.
 */
export function* linkIdentity(
  id: bigint,
  link: { readonly identity: SsoIdentity; readonly confirmsAddress: boolean; readonly keptSessionId: bigint },
  audit: AuditRow,
): Program<Person | 'not_found' | 'identity_taken'> {
  yield { lock: 'people' };
  const before = yield* findPerson(id);
  if (before === null || before.disabledMs !== null) return 'not_found';
  const { issuer, subject } = link.identity;
  const other = yield* findPersonByIdentity(link.identity);
  if (other !== null && other.id !== id) return 'identity_taken';
  const confirmed =
    link.confirmsAddress && before.unconfirmedIn !== null ? 'password = NULL, unconfirmed_in = NULL,' : '';
  yield query(
    `UPDATE person SET ${confirmed} sso_issuer = ?, sso_subject = ?, version = version + 1 WHERE id = ?`,
    issuer,
    subject,
    id,
  );
  yield query('DELETE FROM session WHERE person_id = ? AND id <> ?', id, link.keptSessionId);
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
export function* disablePerson(
  id: bigint,
  nowMs: number,
  audit: AuditRow,
): Program<Person | 'not_found' | 'not_allowed'> {
  yield { lock: 'people' };
  if (!(yield* mayStill(audit, null))) return 'not_allowed';
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
export function* enablePerson(id: bigint, audit: AuditRow): Program<Person | 'not_found' | 'not_allowed'> {
  yield { lock: 'people' };
  if (!(yield* mayStill(audit, null))) return 'not_allowed';
  const before = yield* findPerson(id);
  if (before === null) return 'not_found';
  if (before.disabledMs === null) return before;
  yield query('UPDATE person SET disabled_ms = NULL, version = version + 1 WHERE id = ?', id);
  yield* followPerson(id, audit.atMs);
  yield* writeAudit(audit);
  return (yield* findPerson(id))!;
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
    unconfirmedIn: row.unconfirmed_in,
    version: row.version,
  };
}
