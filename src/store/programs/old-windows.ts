import { idTimeMs } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import { CAP_WINDOW, JOB_STATE, windowId } from '../codes.ts';
import { inSlices, type SlicePace } from '../in-slices.ts';
import { WINDOW_TABLES, type WindowTable } from '../window-tables.ts';
import { type Program, query, rowOf, rowsOf } from './program.ts';

/** The cells of a window's owner, and its number. */
type WindowKey = readonly bigint[];
type TableName = WindowTable['name'];

/** No call that is still to be closed, and no job that waits, counts in such a window. */
const IS_OVER = 'spent = closed AND reserved = 0';

/**
 * A paused job may wait for longer than windows are kept, and its reservation may be zero. When it is resumed, it is overdue
 * until it has ended. Other jobs are overdue for a moment only, but some of them at every moment: these count in later windows.
 */
const NONE_PAUSED = `NOT EXISTS (SELECT 1 FROM job WHERE state = ${JOB_STATE.of.paused})`;
const NONE_OVERDUE = `NOT EXISTS (SELECT 1 FROM job WHERE state = ${JOB_STATE.of.queued} AND expires_ms <= ?
  AND (${isOld('window_id')} OR ${isOld('person_window_id')}))`;

/** SQLite takes no more conditions in one statement. */
const WINDOWS_AT_ONCE = 500;

/**
 * When a window has to begin to be kept. A job counts in the window in which it was accepted, so windows are kept longer than
 * jobs wait, counted from the last call that was closed.
 */
export function keptWindowsMs(nowMs: number, closedUpTo: bigint): number {
  return Math.min(nowMs, idTimeMs(closedUpTo)) - LIMITS.windowKeptMs;
}

/** Whether the window begins before the given one, and is not that of a lifetime. */
function isOld(column: string): string {
  return `(${column} < ? AND (${column} & 3) <> ${CAP_WINDOW.of.lifetime})`;
}

/** Days, weeks and months with a lower number began before windows have to be kept. */
function firstKeptWindow(nowMs: number, closedUpTo: bigint): bigint {
  return windowId('day', keptWindowsMs(nowMs, closedUpTo)) - CAP_WINDOW.of.day;
}

/** The next windows that nothing needs any more, by their key. Those of a lifetime are never among them. */
export function* nextOldWindows(name: TableName, after: WindowKey, nowMs: number, limit: number): Program<bigint[][]> {
  const closed = yield* rowOf<{ value: bigint }>("SELECT value FROM meta WHERE name = 'closed_up_to'");
  const firstKept = firstKeptWindow(nowMs, closed?.value ?? 0n);
  const key = keyOf(name);
  const rows = yield* rowsOf<Readonly<Record<string, bigint>>>(
    `SELECT ${key} FROM ${name} WHERE (${key}) > (${key.map(() => '?')}) AND ${isOld('window_id')}
       AND ${IS_OVER} AND ${NONE_PAUSED} AND ${NONE_OVERDUE} ORDER BY ${key} LIMIT ?`,
    ...[...after, firstKept, nowMs, firstKept, firstKept, limit],
  );
  return rows.map((row) => key.map((column) => row[column]!));
}

export function* forgetWindows(name: TableName, windows: readonly WindowKey[]): Program<void> {
  const isWindow = keyOf(name)
    .map((column) => `${column} = ?`)
    .join(' AND ');
  const isOne = windows.map(() => `(${isWindow})`).join(' OR ');
  yield query(`DELETE FROM ${name} WHERE (${isOne}) AND ${IS_OVER}`, ...windows.flat());
}

function keyOf(name: TableName): string[] {
  return [...WINDOW_TABLES.find((table) => table.name === name)!.owner, 'window_id'];
}

interface ForgettingTerms {
  readonly pace: SlicePace;
  find(name: TableName, after: WindowKey, limit: number): Promise<bigint[][]>;
  forget(name: TableName, windows: readonly WindowKey[]): Promise<void>;
}

/** Deletes old windows slice by slice, and returns how many. */
export async function forgetOldWindows({ pace, find, forget }: ForgettingTerms): Promise<number> {
  const rowsMax = Math.min(pace.rowsMax, WINDOWS_AT_ONCE);
  let forgotten = 0;
  for (const { name } of WINDOW_TABLES) {
    let after: WindowKey = keyOf(name).map(() => 0n);
    forgotten += await inSlices({
      pace: { ...pace, rowsMax },
      prepare: async () => {
        const windows = await find(name, after, rowsMax);
        after = windows.at(-1) ?? after;
        return windows.length === 0 ? null : { rows: windows.length, windows };
      },
      write: async ({ windows }) => {
        await forget(name, windows);
        return true;
      },
    });
  }
  return forgotten;
}
