import { ACTOR_KINDS, type AuditFilter, type AuditRow } from '../people.ts';
import { insert, type Program, type Query, rowsOf, type SqlValue } from './program.ts';

interface AuditColumns {
  readonly id: bigint;
  readonly at_ms: bigint;
  readonly actor_kind: bigint;
  readonly actor_id: bigint | null;
  readonly actor_name: string;
  readonly action: string;
  readonly subject: string;
  readonly account_id: bigint | null;
  readonly before_json: string | null;
  readonly after_json: string | null;
  readonly address: string | null;
}

/** Part of every program that changes something, so that no change is stored without its row here. */
export function* writeAudit(row: AuditRow): Program<void> {
  yield insertAudit(row);
}

export function insertAudit(row: AuditRow): Query {
  return insert('audit', {
    id: row.id,
    at_ms: row.atMs,
    actor_kind: ACTOR_KINDS.indexOf(row.actorKind),
    actor_id: row.actorId,
    actor_name: row.actorName,
    action: row.action,
    subject: row.subject,
    account_id: row.accountId,
    before_json: row.before,
    after_json: row.after,
    address: row.address,
  });
}

/** Newest first; `before` is the id of the last row of the previous page. */
export function* listAudit(
  filter: AuditFilter,
  page: { readonly before: bigint | null; readonly limit: number },
): Program<AuditRow[]> {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const where = (condition: string, value: SqlValue): void => {
    if (value === null) return;
    conditions.push(condition);
    values.push(value);
  };
  where('account_id = ?', filter.accountId);
  where('actor_id = ?', filter.actorId);
  where('action = ?', filter.action);
  where('subject = ?', filter.subject);
  where('at_ms >= ?', filter.sinceMs);
  where('at_ms < ?', filter.untilMs);
  where('id < ?', page.before);
  const clause = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = yield* rowsOf<AuditColumns>(
    `SELECT * FROM audit ${clause} ORDER BY id DESC LIMIT ?`,
    ...values,
    page.limit,
  );
  return rows.map(auditOf);
}

/** Deletes rows as old as the receipts that are no longer kept. */
export function* forgetAudit(beforeMs: number, limit: number): Program<number> {
  const rows = yield* rowsOf<{ id: bigint }>(
    'DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at_ms < ? ORDER BY id LIMIT ?) RETURNING id',
    beforeMs,
    limit,
  );
  return rows.length;
}

function auditOf(row: AuditColumns): AuditRow {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    actorKind: ACTOR_KINDS[Number(row.actor_kind)]!,
    actorId: row.actor_id,
    actorName: row.actor_name,
    action: row.action,
    subject: row.subject,
    accountId: row.account_id,
    before: row.before_json,
    after: row.after_json,
    address: row.address,
  };
}
