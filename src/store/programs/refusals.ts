import { idFloorAt } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import type { Refusal, RefusalBatch, RefusalCount, RefusalFilter, RefusalPage } from '../refusals.ts';
import { insertRows, type Program, query, rowsOf, type SqlValue } from './program.ts';

/** Rows that one statement inserts. */
const INSERTED = 500;

/** Adds to the counts, stores the rows, and drops the oldest ones beyond the quota of their account, the age and, if asked for, the maximum. */
export function* noteRefusals({ counts, rows, prunes }: RefusalBatch, nowMs: number): Program<void> {
  yield { lock: 'refusals' };
  for (const some of inPieces(counts)) yield insertRows('refusal_hour', some.map(countCells), ADD_COUNT);
  for (const some of inPieces(rows)) yield insertRows('refusal', some.map(rowCells), 'ON CONFLICT (id) DO NOTHING');
  for (const accountId of new Set(rows.map((row) => row.accountId))) {
    yield query(
      `DELETE FROM refusal WHERE account_id = ? AND id <= (
         SELECT id FROM refusal WHERE account_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
      ...[accountId, accountId, LIMITS.refusalsPerAccountMax],
    );
  }
  if (prunes)
    yield query(
      'DELETE FROM refusal WHERE id <= (SELECT id FROM refusal ORDER BY id DESC LIMIT 1 OFFSET ?)',
      LIMITS.refusalsMax,
    );
  yield query('DELETE FROM refusal WHERE id < ?', idFloorAt(nowMs - LIMITS.refusalMs));
}

const ADD_COUNT = `ON CONFLICT (start_ms, account_id, key_id, code)
  DO UPDATE SET refused = refusal_hour.refused + excluded.refused`;

function inPieces<Item>(items: readonly Item[]): (readonly Item[])[] {
  const pieces = Math.ceil(items.length / INSERTED);
  return Array.from({ length: pieces }, (_, at) => items.slice(at * INSERTED, (at + 1) * INSERTED));
}

type Cells = Readonly<Record<string, SqlValue>>;

function countCells({ startMs, accountId, keyId, code, refused }: RefusalCount): Cells {
  return { start_ms: startMs, account_id: accountId, key_id: keyId ?? 0n, code, refused };
}

function rowCells(refusal: Refusal): Cells {
  return {
    id: refusal.id,
    account_id: refusal.accountId,
    key_id: refusal.keyId ?? 0n,
    at_ms: refusal.atMs,
    route: refusal.route,
    model: refusal.model,
    status: refusal.status,
    code: refusal.code,
    message: refusal.message,
    worst: refusal.worstNanousd,
    available: refusal.availableNanousd,
  };
}

interface RefusalColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly key_id: bigint;
  readonly at_ms: bigint;
  readonly route: string;
  readonly model: string | null;
  readonly status: bigint;
  readonly code: string;
  readonly message: string;
  readonly worst: bigint | null;
  readonly available: bigint | null;
}

/** Newest first; `after` is the id of the last row of the previous page. */
export function* listRefusals(filter: RefusalFilter, { after, limit }: RefusalPage): Program<Refusal[]> {
  const conditions: [text: string, value: SqlValue][] = [
    ['id = ?', filter.id],
    ['id < ?', after],
    ['account_id = ?', filter.accountId],
    ['key_id = ?', filter.keyId],
    ['key_id IN (SELECT id FROM api_key WHERE person_id = ?)', filter.personId],
    ['model = ?', filter.model],
    ['code = ?', filter.code],
    ['at_ms >= ?', filter.sinceMs],
    ['at_ms < ?', filter.untilMs],
  ];
  const given = conditions.filter(([, value]) => value !== null);
  const where = given.length === 0 ? '' : `WHERE ${given.map(([text]) => text).join(' AND ')}`;
  const rows = yield* rowsOf<RefusalColumns>(
    `SELECT * FROM refusal ${where} ORDER BY id DESC LIMIT ?`,
    ...given.map(([, value]) => value),
    limit,
  );
  return rows.map(refusalOf);
}

function refusalOf(row: RefusalColumns): Refusal {
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id === 0n ? null : row.key_id,
    atMs: Number(row.at_ms),
    route: row.route,
    model: row.model,
    status: Number(row.status),
    code: row.code,
    message: row.message,
    worstNanousd: row.worst,
    availableNanousd: row.available,
  };
}
