import type { DatabaseSync } from 'node:sqlite';
import { type IdSpan, noteUsageUpTo, usageUpTo } from '../programs/usage-sums.ts';
import { DAY_MS, HOUR_MS } from '../time-spans.ts';
import { ADDED_COLUMNS, addOnConflict, SUM_COLUMNS, sumOfCalls, sumsOfCalls, USAGE_TABLES } from '../usage-columns.ts';
import { USAGE_KEY } from '../usage-dimensions.ts';
import { runProgram } from './directory.ts';

/** What calls add to the sums of hours and of days: the cells of rows, one row after another. */
export interface AddedUsage {
  readonly usage_hour: BigInt64Array;
  readonly usage_day: BigInt64Array;
}

const STRIDE = ADDED_COLUMNS.length;

/** Adds the calls up in the thread for long reads, so that the writer only has to store a few rows. */
export function readUsage(database: DatabaseSync, { after, upTo }: IdSpan): AddedUsage {
  const statement = database.prepare(sumsOfCalls(HOUR_MS, SUM_COLUMNS.map(sumOfCalls), 'id > ? AND id <= ?'));
  statement.setReturnArrays(true);
  const hours = statement.all(after, upTo) as unknown as bigint[][];
  return { usage_hour: pack(hours), usage_day: pack(daysOf(hours)) };
}

function pack(rows: readonly (readonly bigint[])[]): BigInt64Array {
  const cells = new BigInt64Array(rows.length * STRIDE);
  for (const [at, row] of rows.entries()) cells.set(row, at * STRIDE);
  return cells;
}

function daysOf(hours: readonly (readonly bigint[])[]): bigint[][] {
  const days = new Map<string, bigint[]>();
  for (const [startMs, ...rest] of hours) {
    const row = [startMs! - (startMs! % BigInt(DAY_MS)), ...rest];
    const name = row.slice(0, USAGE_KEY.length).join('/');
    const found = days.get(name);
    if (found === undefined) days.set(name, row);
    else for (let at = USAGE_KEY.length; at < STRIDE; at++) found[at]! += row[at]!;
  }
  return [...days.values()];
}

/** Adds to the sums. False, without a change, if other calls have to be added first. */
export function writeUsage(database: DatabaseSync, { after, upTo }: IdSpan, added: AddedUsage): boolean {
  if (runProgram(database, usageUpTo()) !== after) return false;
  for (const { name } of USAGE_TABLES) {
    const places = ADDED_COLUMNS.map(() => '?').join(', ');
    const statement = database.prepare(
      `INSERT INTO ${name} (${ADDED_COLUMNS.join(', ')}) VALUES (${places}) ${addOnConflict(name)}`,
    );
    const cells = added[name];
    for (let at = 0; at < cells.length; at += STRIDE) statement.run(...cells.subarray(at, at + STRIDE));
  }
  runProgram(database, noteUsageUpTo(upTo));
  return true;
}
