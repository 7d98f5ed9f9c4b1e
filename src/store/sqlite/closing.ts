import type { DatabaseSync } from 'node:sqlite';
import { MONTH_TREE_COLUMNS, TREE_CHUNK_COLUMNS } from '../month-tree.ts';
import { keepUsage } from '../programs/usage-sums.ts';
import { sameWindow, sumsByWindow, WINDOW_TABLES } from '../window-tables.ts';
import type { ClosingSlice, SettledSlice } from './closing-slices.ts';
import { runProgram } from './directory.ts';
import { readMeta, writeMeta } from './meta.ts';
import { lastInTrees } from './months.ts';
import { unpackTrees } from './packed-trees.ts';
import { RowWriter } from './row-writer.ts';
import type { Slice } from './slices.ts';
import { writeUsage } from './usage-sums.ts';

/** Closes calls. False, without a change, if the calls are no longer those that were read. */
export function closeSlice(database: DatabaseSync, slice: SettledSlice): boolean {
  if (readMeta(database, 'closed_up_to') !== slice.after || !isSame(database, slice)) return false;
  if (!writeUsage(database, slice, slice.usage)) return false;
  writeTrees(database, slice);
  for (const table of WINDOW_TABLES) {
    const parts = sumsByWindow(table, 'sum(cost) AS cost', 'id > ? AND id <= ?');
    database
      .prepare(`
        UPDATE ${table.name} SET closed = closed + part.cost FROM (${parts}) AS part
        WHERE ${sameWindow(table, table.name, 'part')}`)
      .run(slice.after, slice.upTo);
  }
  writeMeta(database, 'closed_up_to', slice.upTo);
  return true;
}

/** Adds calls to trees that an earlier version closed: their sums move from `closing` to `month_tree`. */
export function addToTrees(database: DatabaseSync, slice: ClosingSlice): boolean {
  if (lastInTrees(database) !== slice.after || !isSame(database, slice)) return false;
  writeTrees(database, slice);
  database
    .prepare(`
      UPDATE closing SET calls = calls - part.added, spent = spent - part.cost, loss = loss - part.lost
      FROM (SELECT account_id, unixepoch(created_ms / 1000, 'unixepoch', 'start of month') * 1000 AS month_ms,
          count(*) AS added, sum(cost) AS cost, sum(coalesce(loss, 0)) AS lost
        FROM call WHERE id > ? AND id <= ? GROUP BY 1, 2) AS part
      WHERE closing.account_id = part.account_id AND closing.month_ms = part.month_ms`)
    .run(slice.after, slice.upTo);
  database.exec('DELETE FROM closing WHERE calls = 0 AND spent = 0 AND loss = 0');
  return true;
}

/** Deletes closed calls; their months keep the sums and the trees. */
export function deleteSlice(database: DatabaseSync, slice: ClosingSlice): boolean {
  if (!isSame(database, slice)) return false;
  runProgram(database, keepUsage(slice));
  writeTrees(database, slice);
  const range = 'WHERE id > ? AND id <= ?';
  database
    .prepare(`DELETE FROM account_call WHERE (account_id, id) IN (SELECT account_id, id FROM call ${range})`)
    .run(slice.after, slice.upTo);
  database.prepare(`DELETE FROM call ${range}`).run(slice.after, slice.upTo);
  return true;
}

/** Whether the slice still has the calls that were read: one may have been added, but none can have changed. */
function isSame(database: DatabaseSync, { after, upTo, rows }: Slice): boolean {
  const found = database.prepare('SELECT count(*) AS rows FROM call WHERE id > ? AND id <= ?').get(after, upTo);
  return Number(found?.rows) === rows;
}

function writeTrees(database: DatabaseSync, { months, trees, chunks }: ClosingSlice): void {
  new RowWriter(database, 'REPLACE', 'closed_month', ['month_ms', 'up_to', 'latest_ms']).write(months);
  new RowWriter(database, 'REPLACE', 'month_tree', MONTH_TREE_COLUMNS).write(unpackTrees(trees));
  new RowWriter(database, 'REPLACE', 'tree_chunk', TREE_CHUNK_COLUMNS).write(chunks);
}
