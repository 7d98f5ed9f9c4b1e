import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { readMeta, writeMeta } from './meta.ts';
import { nextSettledSlice } from './slices.ts';

/** One step: closes the next calls that can no longer change, and returns how many. */
export function closeSlice(database: DatabaseSync, nowMs: number): number {
  const slice = nextSettledSlice(database, readMeta(database, 'closed_up_to'), nowMs, LIMITS.storeWriteSliceRows);
  if (slice.rows === 0) return 0;
  database
    .prepare(`
      INSERT INTO closing (account_id, month_ms, calls, spent, loss)
      SELECT account_id, unixepoch(created_ms / 1000, 'unixepoch', 'start of month') * 1000,
        count(*), sum(cost), sum(coalesce(loss, 0))
      FROM call WHERE id > ? AND id <= ? GROUP BY 1, 2
      ON CONFLICT (account_id, month_ms) DO UPDATE SET
        calls = calls + excluded.calls, spent = spent + excluded.spent, loss = loss + excluded.loss`)
    .run(slice.after, slice.upTo);
  database
    .prepare(`
      UPDATE key_window SET closed = closed + part.cost
      FROM (SELECT key_id, window_id, sum(cost) AS cost FROM call
        WHERE id > ? AND id <= ? AND key_id IS NOT NULL GROUP BY key_id, window_id) AS part
      WHERE key_window.key_id = part.key_id AND key_window.window_id = part.window_id`)
    .run(slice.after, slice.upTo);
  writeMeta(database, 'closed_up_to', slice.upTo);
  return slice.rows;
}

/** One step: deletes the oldest closed receipts created before that time, and returns how many. */
export function forgetSlice(database: DatabaseSync, beforeMs: number): number {
  const terms = [BigInt(beforeMs), readMeta(database, 'closed_up_to'), BigInt(LIMITS.storeWriteSliceRows)];
  database
    .prepare(`DELETE FROM account_call WHERE (account_id, id) IN (SELECT account_id, id ${OLDEST})`)
    .run(...terms);
  const { changes } = database.prepare(`DELETE FROM call WHERE id IN (SELECT id ${OLDEST})`).run(...terms);
  return Number(changes);
}

const OLDEST = `FROM call WHERE created_ms < ? AND id IN (SELECT id FROM call WHERE id <= ? ORDER BY id LIMIT ?)`;
