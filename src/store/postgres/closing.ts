import { LIMITS } from '../../limits.ts';
import { inSlices, type SlicePace } from '../in-slices.ts';
import { MONTH_TREE_COLUMNS, type MonthTreeRow, TREE_CHUNK_COLUMNS } from '../month-tree.ts';
import { forgetOldWindows, forgetWindows as forgetOnes, nextOldWindows } from '../programs/old-windows.ts';
import { addUsage, keepUsage } from '../programs/usage-sums.ts';
import { sameWindow, sumsByWindow, WINDOW_TABLES, type WindowTable } from '../window-tables.ts';
import { type ClosingSlice, ClosingSlices } from './closing-slices.ts';
import type { Connections, RunSql } from './connections.ts';
import { readProgram, runProgram } from './directory.ts';
import { lastInTrees } from './months.ts';
import type { Slice } from './slices.ts';
import { bytes, numbers } from './values.ts';

export const CLOSING_PACE: SlicePace = { rowsMax: LIMITS.postgresClosingRows, pauseMs: LIMITS.closingPauseMs };

/** The caller has the lock `bookkeeping`. */
export async function closeInSlices(
  connections: Connections,
  nowMs: number,
  forgetBeforeMs: number | null,
): Promise<{ closed: number; forgotten: number }> {
  const pace = CLOSING_PACE;
  const slices = new ClosingSlices(connections);
  const writing = (write: (sql: RunSql, slice: ClosingSlice) => Promise<boolean>) => (slice: ClosingSlice) =>
    connections.transaction((sql) => write(sql, slice));
  await inSlices({ pace, prepare: () => slices.nextWithoutTree(nowMs), write: writing(addToTrees) });
  await inSlices({
    pace,
    prepare: () => slices.nextWithoutUsage(),
    write: (slice) => connections.transaction((sql) => addUsageOf(sql, slice)),
  });
  const closed = await inSlices({ pace, prepare: () => slices.nextSettled(nowMs), write: writing(closeSlice) });
  if (forgetBeforeMs === null) return { closed, forgotten: 0 };
  const forgotten = await inSlices({
    pace,
    prepare: () => slices.nextExpired(forgetBeforeMs, nowMs),
    write: writing(deleteSlice),
  });
  return { closed, forgotten };
}

/** Closes calls. False, without a change, if the calls are no longer those that were read. */
export async function closeSlice(sql: RunSql, slice: ClosingSlice): Promise<boolean> {
  if ((await lockClosed(sql)) !== slice.after || !(await isSame(sql, slice))) return false;
  if (!(await runProgram(sql, addUsage(slice)))) return false;
  const span = [slice.after, slice.upTo];
  await writeTrees(sql, slice);
  for (const table of WINDOW_TABLES) await closeWindows(sql, table, span);
  await sql("UPDATE meta SET value = $1 WHERE name = 'closed_up_to'", [slice.upTo]);
  return true;
}

/**
 * The last closed call. One slice at a time is written, even if a process has lost its lock `bookkeeping` with a connection
 * and another one goes on with the same slice.
 */
async function lockClosed(sql: RunSql): Promise<bigint> {
  const [closed] = await sql<{ value: bigint }>("SELECT value FROM meta WHERE name = 'closed_up_to' FOR UPDATE");
  return closed!.value;
}

async function closeWindows(sql: RunSql, table: WindowTable, span: readonly bigint[]): Promise<void> {
  const parts = sumsByWindow(table, 'sum(cost)::int8 AS cost', 'id > $1 AND id <= $2');
  const key = [...table.owner, 'window_id'].join(', ');
  // In the order in which batches lock them.
  await sql(
    `SELECT 1 FROM ${table.name} WHERE (${key}) IN (SELECT ${key} FROM (${parts}) AS part)
     ORDER BY ${key} FOR NO KEY UPDATE`,
    span,
  );
  await sql(
    `UPDATE ${table.name} SET closed = closed + part.cost FROM (${parts}) AS part
     WHERE ${sameWindow(table, table.name, 'part')}`,
    span,
  );
}

/** Adds calls to trees that an earlier version closed: their sums move from `closing` to `month_tree`. */
async function addToTrees(sql: RunSql, slice: ClosingSlice): Promise<boolean> {
  await lockClosed(sql);
  if ((await lastInTrees(sql)) !== slice.after || !(await isSame(sql, slice))) return false;
  await writeTrees(sql, slice);
  await sql(
    `UPDATE closing SET calls = calls - part.added, spent = spent - part.cost, loss = closing.loss - part.lost
     FROM (SELECT account_id, (extract(epoch FROM date_trunc('month', to_timestamp(created_ms / 1000) AT TIME ZONE 'UTC'))
         * 1000)::int8 AS month_ms, count(*) AS added, sum(cost) AS cost, sum(coalesce(call.loss, 0)) AS lost
       FROM call WHERE id > $1 AND id <= $2 GROUP BY 1, 2) AS part
     WHERE closing.account_id = part.account_id AND closing.month_ms = part.month_ms`,
    [slice.after, slice.upTo],
  );
  await sql('DELETE FROM closing WHERE calls = 0 AND spent = 0 AND loss = 0');
  return true;
}

/** Adds calls to the usage sums that an earlier version closed. */
async function addUsageOf(sql: RunSql, slice: Slice): Promise<boolean> {
  await lockClosed(sql);
  return runProgram(sql, addUsage(slice));
}

/** Deletes closed calls; their months keep the sums and the trees. */
export async function deleteSlice(sql: RunSql, slice: ClosingSlice): Promise<boolean> {
  await lockClosed(sql);
  if (!(await isSame(sql, slice))) return false;
  await runProgram(sql, keepUsage(slice));
  await writeTrees(sql, slice);
  await sql('DELETE FROM call WHERE id > $1 AND id <= $2', [slice.after, slice.upTo]);
  return true;
}

/** Whether no call was added since: the others cannot have changed. */
async function isSame(sql: RunSql, { after, upTo, rows }: Slice): Promise<boolean> {
  const count = 'SELECT count(*) AS rows FROM call WHERE id > $1 AND id <= $2';
  const [found] = await sql<{ rows: bigint }>(count, [after, upTo]);
  return Number(found!.rows) === rows;
}

async function writeTrees(sql: RunSql, { months, trees, chunks }: ClosingSlice): Promise<void> {
  await sql(
    `INSERT INTO closed_month (month_ms, up_to, latest_ms) SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[])
     ON CONFLICT (month_ms) DO UPDATE SET up_to = excluded.up_to, latest_ms = excluded.latest_ms`,
    (['month_ms', 'up_to', 'latest_ms'] as const).map((column) => numbers(months.map((month) => month[column]))),
  );
  const places = MONTH_TREE_COLUMNS.map((column, at) => `$${at + 1}::${isBytes(column) ? 'bytea' : 'int8'}[]`);
  const changed = MONTH_TREE_COLUMNS.slice(3).map((column) => `${column} = excluded.${column}`);
  await sql(
    `INSERT INTO month_tree (${MONTH_TREE_COLUMNS.join(', ')}) SELECT * FROM unnest(${places.join(', ')})
     ON CONFLICT (month_ms, account_id, part) DO UPDATE SET ${changed.join(', ')}`,
    MONTH_TREE_COLUMNS.map((column) =>
      isBytes(column) ? bytes(trees.map((tree) => tree[column])) : numbers(trees.map((tree) => tree[column])),
    ),
  );
  if (chunks.length === 0) return;
  await sql(
    `INSERT INTO tree_chunk (${TREE_CHUNK_COLUMNS.join(', ')})
     SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[])
     ON CONFLICT (month_ms, account_id, number) DO UPDATE SET up_to = excluded.up_to, hash = excluded.hash`,
    TREE_CHUNK_COLUMNS.map((column) =>
      column === 'hash' ? bytes(chunks.map(({ hash }) => hash)) : numbers(chunks.map((chunk) => chunk[column])),
    ),
  );
}

function isBytes(column: keyof MonthTreeRow): column is 'root' | 'peaks' {
  return column === 'root' || column === 'peaks';
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

/** The caller has the lock `bookkeeping`. */
export function forgetWindows(connections: Connections, nowMs: number): Promise<number> {
  return forgetOldWindows({
    pace: CLOSING_PACE,
    find: (name, after, limit) => readProgram(connections, nextOldWindows(name, after, nowMs, limit)),
    forget: (name, windows) => connections.transaction((sql) => runProgram(sql, forgetOnes(name, windows))),
  });
}
