import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Cleanup, openAll } from '../../kit/cleanup.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import type { Cell, CopySource, LedgerTable, Row } from '../copy.ts';
import type { VerifyProgress } from '../store.ts';
import { databaseFile, openToRead } from './database.ts';
import { HELD_OF_ACCOUNT, HELD_OF_PERSON_WINDOW, HELD_OF_WINDOW } from './held.ts';
import { readMeta } from './meta.ts';
import { openSqliteStore } from './sqlite-store.ts';

type SqliteSource = CopySource & { close(): Promise<void> };

/** Whether the folder has the database of a ledger; opening a missing one would create it. */
export function hasDatabase(folder: string): boolean {
  return statSync(databaseFile(folder), { throwIfNoEntry: false }) !== undefined;
}

/** Opens a ledger for copying. The caller holds the folder's lock. Open holds of a dead server are voided. */
export function openSqliteSource({ folder, clock }: { folder: string; clock: Clock }): Promise<SqliteSource> {
  return openAll((cleanup) => openSource(folder, clock, cleanup));
}

async function openSource(folder: string, clock: Clock, cleanup: Cleanup): Promise<SqliteSource> {
  const store = await openSqliteStore({ folder, clock, threads: false });
  cleanup.add(() => store.close());
  const database = openToRead(folder);
  cleanup.add(() => database.close());
  // Only if needed: a new epoch means that the ledger was used, and an interrupted copy would start again.
  if (hasOpenHolds(database)) await store.beginInstance();
  const { ledgerId, epoch } = readMark(database);
  return {
    mark: { ledgerId, epoch },
    state: {
      todayMs: readMeta(database, 'today_ms'),
      closedUpTo: readMeta(database, 'closed_up_to'),
      booksId: readMeta(database, 'books_id'),
      generation: readMeta(database, 'generation'),
      jobsGeneration: readMeta(database, 'jobs_generation'),
    },
    columns: (table) => columnsOf(database, table),
    count: ({ name }) => Number(database.prepare(`SELECT count(*) AS rows FROM ${name}`).get()?.rows),
    page: (table, after) => readPage(database, table, after),
    verify: (progress: (done: VerifyProgress) => void) => store.verify(progress),
    close: () => cleanup.run(),
  };
}

function hasOpenHolds(database: DatabaseSync): boolean {
  return database.prepare(`SELECT 1 FROM call WHERE state = ${CALL_STATE.of.open} LIMIT 1`).get() !== undefined;
}

function readMark(database: DatabaseSync): { ledgerId: bigint; epoch: bigint } {
  const row = database.prepare('SELECT coalesce(max(epoch), 0) AS epoch FROM instance').get();
  // A restored ledger may reach an epoch again that a copy of it has seen before.
  const ledgerId = BigInt.asUintN(63, readMeta(database, 'books_id') + readMeta(database, 'generation'));
  return { ledgerId, epoch: row?.epoch as bigint };
}

/** Columns of the other engine that this one computes. */
const COMPUTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  balance: { held: HELD_OF_ACCOUNT },
  key_window: { held: HELD_OF_WINDOW },
  person_window: { held: HELD_OF_PERSON_WINDOW },
};

/** Read from the schema, so that columns of later migrations are always included. */
function columnsOf(database: DatabaseSync, { name, key }: LedgerTable): readonly string[] {
  const rows = database.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').all(name);
  const rest = rows.map((row) => row.name as string).filter((column) => !key.includes(column));
  return [...key, ...rest, ...Object.keys(COMPUTED[name] ?? {})];
}

function readPage(database: DatabaseSync, table: LedgerTable, after: Row | null): Row[] {
  const keys = table.key.join(', ');
  const beyond = after === null ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(', ')})`;
  const cells = columnsOf(database, table).map((column) => COMPUTED[table.name]?.[column] ?? column);
  const statement = database.prepare(
    `SELECT ${cells.join(', ')} FROM ${table.name} ${beyond} ORDER BY ${keys} LIMIT ?`,
  );
  statement.setReturnArrays(true);
  const rows: Row[] = [];
  let bytes = 0;
  const found = statement.iterate(...(after ?? []), BigInt(LIMITS.copyPageRows)) as unknown as Iterable<Row>;
  for (const row of found) {
    bytes += row.reduce((size, cell) => size + sizeOf(cell), 0);
    if (rows.length > 0 && bytes > LIMITS.copyPageBytes) break;
    rows.push(row);
  }
  return rows;
}

function sizeOf(cell: Cell): number {
  return typeof cell === 'bigint' || cell === null ? 8 : cell.length;
}
