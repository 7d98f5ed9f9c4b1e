import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { INT64_MAX } from '../int64.ts';

/** Calls with `after < id <= upTo`. */
export interface Slice {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly rows: number;
}

/**
 * The next calls that can no longer change: none is open, and none is so recent that a hold may still get a lower id.
 */
export function nextSettledSlice(database: DatabaseSync, after: bigint, nowMs: number, rowsMax: number): Slice {
  const rows = database
    .prepare('SELECT id, state, created_ms FROM call WHERE id > ? ORDER BY id LIMIT ?')
    .all(after, BigInt(rowsMax));
  const youngest = BigInt(nowMs - LIMITS.closingAgeMs);
  const end = rows.findIndex((row) => row.state === CALL_STATE.of.open || (row.created_ms as bigint) > youngest);
  return sliceOf(after, end === -1 ? rows : rows.slice(0, end));
}

/** The next calls, whatever their state. */
export function nextSlice(database: DatabaseSync, after: bigint, rowsMax: number, last = INT64_MAX): Slice {
  const rows = database
    .prepare('SELECT id FROM call WHERE id > ? AND id <= ? ORDER BY id LIMIT ?')
    .all(after, last, BigInt(rowsMax));
  return sliceOf(after, rows);
}

function sliceOf(after: bigint, rows: readonly Record<string, unknown>[]): Slice {
  const last = rows.at(-1)?.id as bigint | undefined;
  return { after, upTo: last ?? after, rows: rows.length };
}
