import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { INT64_MAX } from '../int64.ts';
import type { RunSql } from './connections.ts';

/** A transaction that reads as of one moment. */
export const ONE_MOMENT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Calls with `after < id <= upTo`. */
export interface Slice {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly rows: number;
}

/**
 * The next calls that can no longer change: none is open, and none is so recent that a hold may still get a lower id.
 */
export function nextSettledSlice(sql: RunSql, after: bigint, nowMs: number, rowsMax: number): Promise<Slice> {
  const youngestMs = nowMs - LIMITS.closingAgeMs;
  return sliceOf(
    sql,
    after,
    `WITH next AS (SELECT id, state, created_ms FROM call WHERE id > $1 ORDER BY id LIMIT $2),
       stop AS (SELECT min(id) AS id FROM next WHERE state = ${CALL_STATE.of.open} OR created_ms > $3)
     SELECT max(next.id) AS up_to, count(*) AS rows FROM next, stop WHERE stop.id IS NULL OR next.id < stop.id`,
    [after, rowsMax, youngestMs],
  );
}

/** The next calls, whatever their state. */
export function nextSlice(sql: RunSql, after: bigint, rowsMax: number, last = INT64_MAX): Promise<Slice> {
  const next = 'SELECT id FROM call WHERE id > $1 AND id <= $3 ORDER BY id LIMIT $2';
  const counted = `SELECT max(id) AS up_to, count(*) AS rows FROM (${next}) AS next`;
  return sliceOf(sql, after, counted, [after, rowsMax, last]);
}

async function sliceOf(sql: RunSql, after: bigint, text: string, values: readonly unknown[]): Promise<Slice> {
  const [row] = await sql<{ up_to: bigint | null; rows: bigint }>(text, values);
  return { after, upTo: row!.up_to ?? after, rows: Number(row!.rows) };
}
