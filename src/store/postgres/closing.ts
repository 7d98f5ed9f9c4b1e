import { LIMITS } from '../../limits.ts';
import type { Connections } from './connections.ts';
import { nextSettledSlice } from './slices.ts';

/** One step: closes the next calls that can no longer change, and returns how many. */
export function closeSlice(connections: Connections, nowMs: number): Promise<number> {
  return connections.transaction(async (sql) => {
    const [closed] = await sql<{ value: bigint }>("SELECT value FROM meta WHERE name = 'closed_up_to' FOR UPDATE");
    const slice = await nextSettledSlice(sql, closed!.value, nowMs, LIMITS.storeWriteSliceRows);
    if (slice.rows === 0) return 0;
    const span = [slice.after, slice.upTo];
    await sql(
      `INSERT INTO closing (account_id, month_ms, calls, spent, loss)
       SELECT account_id, (extract(epoch FROM date_trunc('month', to_timestamp(created_ms / 1000) AT TIME ZONE 'UTC'))
         * 1000)::int8, count(*), sum(cost), sum(coalesce(loss, 0))
       FROM call WHERE id > $1 AND id <= $2 GROUP BY 1, 2 ORDER BY 1, 2
       ON CONFLICT (account_id, month_ms) DO UPDATE SET calls = closing.calls + excluded.calls,
         spent = closing.spent + excluded.spent, loss = closing.loss + excluded.loss`,
      span,
    );
    const parts = `SELECT key_id, window_id, sum(cost)::int8 AS cost FROM call
      WHERE id > $1 AND id <= $2 AND key_id IS NOT NULL GROUP BY key_id, window_id`;
    // In the order in which batches lock them.
    await sql(
      `SELECT 1 FROM key_window WHERE (key_id, window_id) IN (SELECT key_id, window_id FROM (${parts}) AS part)
       ORDER BY key_id, window_id FOR NO KEY UPDATE`,
      span,
    );
    await sql(
      `UPDATE key_window SET closed = closed + part.cost FROM (${parts}) AS part
       WHERE key_window.key_id = part.key_id AND key_window.window_id = part.window_id`,
      span,
    );
    await sql("UPDATE meta SET value = $1 WHERE name = 'closed_up_to'", [slice.upTo]);
    return slice.rows;
  });
}

/** One step: deletes the oldest closed receipts created before that time, and returns how many. */
export async function forgetSlice(connections: Connections, beforeMs: number): Promise<number> {
  const gone = await connections.query(
    `DELETE FROM call WHERE created_ms < $1 AND id IN (
       SELECT id FROM call WHERE id <= (SELECT value FROM meta WHERE name = 'closed_up_to') ORDER BY id LIMIT $2)
     RETURNING 1`,
    [beforeMs, LIMITS.storeWriteSliceRows],
  );
  return gone.length;
}

/** One step: deletes some expired idempotency keys, and returns how many. */
export async function sweepSlice(connections: Connections, nowMs: number): Promise<number> {
  const gone = await connections.query(
    `DELETE FROM idempotency_key WHERE (account_id, key) IN (
       SELECT account_id, key FROM idempotency_key WHERE state <> 1 AND created_ms <= $1 ORDER BY created_ms LIMIT $2
       FOR UPDATE SKIP LOCKED)
     RETURNING 1`,
    [nowMs - LIMITS.idempotencyKeyMs, LIMITS.idempotencySweepRows],
  );
  return gone.length;
}
