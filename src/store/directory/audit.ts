import { insert, type Program, rowsOf, type SqlValue } from './program.ts';

/** Who made a change: a person, a management key, or somebody with access to the data folder or the configuration. */
export const ACTOR_KINDS = ['person', 'management_key', 'command_line', 'configuration'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** One change, as it is kept for good. Neither `before` nor `after` ever holds a secret. */
export interface AuditRow {
  readonly id: bigint;
  readonly atMs: number;
  readonly actorKind: ActorKind;
  /** Null for the command line and the configuration. */
  readonly actorId: bigint | null;
  /** The email address of a person, the name of a key, or the user of the machine, as it was then. */
  readonly actorName: string;
  /** What was done, like `key.mint`. */
  readonly action: string;
  /** The id of what was changed, in the form that people see. */
  readonly subject: string;
  /** The account that the change belongs to; null for changes of the whole gateway. */
  readonly accountId: bigint | null;
  /** JSON objects of the members that changed; null where there was nothing. */
  readonly before: string | null;
  readonly after: string | null;
  /** The client's network address; null for the command line. */
  readonly address: string | null;
}

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
  yield insert('audit', {
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

/** Null members filter nothing. */
export interface AuditFilter {
  readonly accountId: bigint | null;
  readonly actorId: bigint | null;
  readonly action: string | null;
  readonly subject: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

/** Newest first; `before` is the id of the last row of the page before. */
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
