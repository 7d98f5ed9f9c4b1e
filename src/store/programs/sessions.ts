import type { AuditRow, NewSession, Person, Session } from '../people.ts';
import { writeAudit } from './audit.ts';
import { findPerson, personOf } from './people.ts';
import { insert, type Program, query, rowOf, rowsOf } from './program.ts';

interface SessionColumns {
  readonly id: bigint;
  readonly sha256: string;
  readonly person_id: bigint;
  readonly created_ms: bigint;
  readonly expires_ms: bigint;
  readonly used_ms: bigint;
  readonly proved_ms: bigint;
  readonly address: string;
  readonly user_agent: string;
}

type PersonColumns = Parameters<typeof personOf>[0];

/**
 * Refused if the person was disabled or changed since that version was read: a password that was replaced meanwhile, or
 * a person who was shut out, must not leave a session behind. Of too many sessions the oldest end.
 */
export function* createSession(
  session: NewSession,
  personVersion: bigint,
  sessionsMax: number,
  audit: AuditRow,
): Program<'created' | 'person_changed'> {
  yield { lock: 'people' };
  const person = yield* findPerson(session.personId);
  if (person === null || person.disabledMs !== null || person.version !== personVersion) return 'person_changed';
  yield query(
    `DELETE FROM session WHERE person_id = ? AND id NOT IN
       (SELECT id FROM session WHERE person_id = ? ORDER BY id DESC LIMIT ?)`,
    person.id,
    person.id,
    sessionsMax - 1,
  );
  yield insert('session', {
    id: session.id,
    sha256: session.sha256Hex,
    person_id: session.personId,
    created_ms: session.createdMs,
    expires_ms: session.expiresMs,
    used_ms: session.createdMs,
    proved_ms: session.createdMs,
    address: session.address,
    user_agent: session.userAgent,
  });
  yield* writeAudit(audit);
  return 'created';
}

/** With its person, so that a request needs one read. Whether either is still valid is the caller's to judge. */
export function* findSession(sha256Hex: string): Program<{ session: Session; person: Person } | null> {
  const session = yield* rowOf<SessionColumns>('SELECT * FROM session WHERE sha256 = ?', sha256Hex);
  if (session === null) return null;
  const person = yield* rowOf<PersonColumns>('SELECT * FROM person WHERE id = ?', session.person_id);
  return person === null ? null : { session: sessionOf(session), person: personOf(person) };
}

export function* listSessions(personId: bigint): Program<Session[]> {
  const rows = yield* rowsOf<SessionColumns>('SELECT * FROM session WHERE person_id = ? ORDER BY id', personId);
  return rows.map(sessionOf);
}

/** Not a change that anybody would look for, so it has no row in the audit. */
export function* touchSession(id: bigint, usedMs: number): Program<void> {
  yield query('UPDATE session SET used_ms = ? WHERE id = ? AND used_ms < ?', usedMs, id, usedMs);
}

/** The person has proved again who they are, for a change that needs it; that change has the row in the audit. */
export function* proveSession(id: bigint, provedMs: number): Program<void> {
  yield query('UPDATE session SET proved_ms = ? WHERE id = ? AND proved_ms < ?', provedMs, id, provedMs);
}

/** A person may only end their own sessions; null, for an operator, ends any. */
export function* endSession(id: bigint, personId: bigint | null, audit: AuditRow): Program<boolean> {
  const mine = personId === null ? '' : 'AND person_id = ?';
  const values = personId === null ? [id] : [id, personId];
  const ended = yield* rowOf(`DELETE FROM session WHERE id = ? ${mine} RETURNING id`, ...values);
  if (ended === null) return false;
  yield* writeAudit(audit);
  return true;
}

export function* endSessionsOf(personId: bigint, audit: AuditRow): Program<number> {
  const ended = yield* rowsOf('DELETE FROM session WHERE person_id = ? RETURNING id', personId);
  if (ended.length > 0) yield* writeAudit(audit);
  return ended.length;
}

/** Deletes sessions that ended by themselves. */
export function* sweepSessions(nowMs: number, idleMs: number): Program<number> {
  const ended = yield* rowsOf(
    'DELETE FROM session WHERE expires_ms <= ? OR used_ms <= ? RETURNING id',
    nowMs,
    nowMs - idleMs,
  );
  return ended.length;
}

function sessionOf(row: SessionColumns): Session {
  return {
    id: row.id,
    sha256Hex: row.sha256,
    personId: row.person_id,
    createdMs: Number(row.created_ms),
    expiresMs: Number(row.expires_ms),
    usedMs: Number(row.used_ms),
    provedMs: Number(row.proved_ms),
    address: row.address,
    userAgent: row.user_agent,
  };
}
