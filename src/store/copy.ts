import { LIMITS } from '../limits.ts';
import type { VerifyProgress, VerifyReport } from './store.ts';

/**
 * Books on their way from one engine to another, as rows: both engines tell the same tables with the same columns, and
 * ids are kept. A row begins with its key; what has arrived is the progress, so that a copy that was broken off goes on
 * after the last key that is there.
 */
export type Cell = bigint | string | Uint8Array | null;
export type Row = readonly Cell[];

export interface LedgerTable {
  readonly name: string;
  /** Rows are read and written in its order. */
  readonly key: readonly string[];
  /** Amounts that are added up on both sides. */
  readonly sums: readonly string[];
}

/** In an order in which they can be filled. A test holds the list to the tables that there are. */
export const LEDGER_TABLES: readonly LedgerTable[] = [
  { name: 'account', key: ['id'], sums: [] },
  { name: 'balance', key: ['account_id'], sums: ['balance', 'held', 'spent'] },
  { name: 'api_key', key: ['id'], sums: [] },
  { name: 'key_window', key: ['key_id', 'window_id'], sums: ['spent', 'held', 'closed'] },
  { name: 'name', key: ['id'], sums: [] },
  { name: 'price_list', key: ['id'], sums: [] },
  { name: 'credit', key: ['id'], sums: ['amount'] },
  { name: 'provider_key', key: ['id'], sums: [] },
  { name: 'closing', key: ['account_id', 'month_ms'], sums: ['calls', 'spent', 'loss'] },
  { name: 'call', key: ['id'], sums: ['held', 'cost'] },
  { name: 'idempotency_key', key: ['account_id', 'key'], sums: [] },
];

/** Which books, and in which state: any process that works on them raises the epoch. */
export interface LedgerMark {
  readonly ledgerId: bigint;
  readonly epoch: bigint;
}

/** What stands beside the tables. */
export interface LedgerState {
  readonly todayMs: bigint;
  readonly closedUpTo: bigint;
}

export type ColumnsOf = (table: LedgerTable) => readonly string[];

/** Books that nobody works on, without open holds. */
export interface CopySource {
  readonly mark: LedgerMark;
  readonly state: LedgerState;
  /** The key's columns first. */
  readonly columns: ColumnsOf;
  count(table: LedgerTable): number;
  /** The next rows after that key, at most `LIMITS.copyPageRows` and, but for a first large one, `LIMITS.copyPageBytes`. */
  page(table: LedgerTable, after: Row | null): Row[];
  verify(progress: (done: VerifyProgress) => void): Promise<VerifyReport>;
}

/** A copy is begun, gone on with, or begun anew because the books have been used since it was broken off. */
export type CopyStart = 'begun' | 'resumed' | 'begun_anew';

/** These very books have been copied here and not been used since. */
export const COPIED_BEFORE = 'copied_before';

/** Books live in one place: those that were copied are left. */
export interface Leaving {
  /** Why these may go nowhere else; null for books that have not moved. */
  readonly moved: string | null;
  /** From now on nobody works on them; that is durable when it returns. */
  leave(): void;
}

const STAYING: Leaving = { moved: null, leave: () => undefined };

/** Where the books go; until `finish` nobody can serve from it. */
export interface CopyTarget {
  /** Throws a CopyRefused where there are other books, or where books that have moved would go a second time. */
  begin(mark: LedgerMark, columns: ColumnsOf, moved?: string | null): Promise<CopyStart | typeof COPIED_BEFORE>;
  /** The key of the last row that has arrived. */
  lastKey(table: LedgerTable): Promise<Row | null>;
  count(table: LedgerTable): Promise<number>;
  /** In one commit; the rows follow on that key. */
  write(table: LedgerTable, rows: readonly Row[], after: Row | null): Promise<void>;
  /** The rows after one key up to another; null is the beginning, or the end. */
  read(table: LedgerTable, after: Row | null, upTo: Row | null): Promise<Row[]>;
  /** As they can be stored here: some texts of one engine are none of another's. */
  asStored(table: LedgerTable, rows: readonly Row[]): readonly Row[];
  setState(state: LedgerState, mark: LedgerMark): Promise<void>;
  verify(progress: (done: VerifyProgress) => void): Promise<VerifyReport>;
  finish(): Promise<void>;
}

/** Nothing was copied, for this reason. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

export interface CopyProgress {
  readonly phase: 'copying' | 'comparing' | 'verifying';
  readonly done: number;
  readonly total: number;
}

export interface TableTally {
  readonly table: string;
  readonly rows: number;
  readonly sums: Readonly<Record<string, bigint>>;
}

export interface CopyReport {
  readonly start: CopyStart;
  /** Rows that an earlier attempt had brought over. */
  readonly rowsFound: number;
  readonly rowsCopied: number;
  readonly tables: readonly TableTally[];
  readonly source: VerifyReport;
  readonly target: VerifyReport;
  /** Everything in which the two sides differ or are wrong by themselves; empty means that the copy may be used. */
  readonly faults: readonly string[];
}

type Tell = (progress: CopyProgress) => void;

/**
 * Copies, reads everything back, recomputes the books on both sides, and only then lets the copy be used. The books are
 * left before that, so that whatever breaks off in between, nobody can ever work on both.
 */
export async function copyLedger(
  source: CopySource,
  target: CopyTarget,
  tell: Tell,
  { moved, leave }: Leaving = STAYING,
): Promise<CopyReport | typeof COPIED_BEFORE> {
  const start = await target.begin(source.mark, source.columns, moved);
  if (start === COPIED_BEFORE) {
    leave();
    return COPIED_BEFORE;
  }
  const rowsFound = await sum(LEDGER_TABLES.map((table) => target.count(table)));
  const total = LEDGER_TABLES.reduce((rows, table) => rows + source.count(table), 0);
  let done = rowsFound;
  const told = (phase: CopyProgress['phase']) => (rows: number) => {
    done += rows;
    tell({ phase, done, total });
  };
  for (const table of LEDGER_TABLES) await copyTable(source, target, table, told('copying'));
  const rowsCopied = done - rowsFound;
  await target.setState(source.state, source.mark);
  done = 0;
  const faults = new Faults();
  const tables: TableTally[] = [];
  for (const table of LEDGER_TABLES) tables.push(await compareTable(source, target, table, faults, told('comparing')));
  const verified = await verifyBoth(source, target, faults, tell);
  if (faults.list.length === 0) {
    leave();
    await target.finish();
  }
  return { start, rowsFound, rowsCopied, tables, ...verified, faults: faults.list };
}

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  table: LedgerTable,
  copied: (rows: number) => void,
): Promise<void> {
  let after = await target.lastKey(table);
  for (;;) {
    const rows = source.page(table, after);
    if (rows.length === 0) return;
    await target.write(table, target.asStored(table, rows), after);
    after = keyOf(table, rows.at(-1)!);
    copied(rows.length);
  }
}

async function compareTable(
  source: CopySource,
  target: CopyTarget,
  table: LedgerTable,
  faults: Faults,
  compared: (rows: number) => void,
): Promise<TableTally> {
  const [ours, theirs] = [new Tally(table, source.columns(table)), new Tally(table, source.columns(table))];
  let after: Row | null = null;
  for (;;) {
    const rows = target.asStored(table, source.page(table, after));
    const upTo: Row | null = rows.length === 0 ? null : keyOf(table, rows.at(-1)!);
    const copies = await target.read(table, after, upTo);
    ours.add(rows);
    theirs.add(copies);
    const differs = firstDifference(rows, copies);
    if (differs !== null) faults.add(`${table.name}: the row ${describeKey(table, differs)} is not the same.`);
    if (upTo === null) break;
    after = upTo;
    compared(rows.length);
  }
  for (const fault of ours.differences(theirs)) faults.add(fault);
  return theirs.result();
}

async function verifyBoth(
  source: CopySource,
  target: CopyTarget,
  faults: Faults,
  tell: Tell,
): Promise<Pick<CopyReport, 'source' | 'target'>> {
  const half = (from: number) => (progress: VerifyProgress) =>
    tell({ phase: 'verifying', done: from * progress.rowsTotal + progress.rowsRead, total: 2 * progress.rowsTotal });
  const [before, after] = [await source.verify(half(0)), await target.verify(half(1))];
  for (const violation of before.violations) faults.add(`The books that were copied: ${violation}`);
  for (const violation of after.violations) faults.add(`The copy: ${violation}`);
  const { violations: _, ...counts } = before;
  for (const [name, value] of Object.entries(counts)) {
    const copied = after[name as keyof typeof counts];
    if (copied !== value) faults.add(`Verifying counts ${value} ${name} in the books and ${copied} in the copy.`);
  }
  return { source: before, target: after };
}

/** What is wrong, as far as it helps to know. */
class Faults {
  readonly list: string[] = [];

  add(fault: string): void {
    if (this.list.length < LIMITS.copyFaultsTold) this.list.push(fault);
  }
}

/** Rows and amounts of one table, as one side has them. */
class Tally {
  readonly #table: LedgerTable;
  readonly #at: readonly number[];
  readonly #sums: bigint[];
  #rows = 0;

  constructor(table: LedgerTable, columns: readonly string[]) {
    this.#table = table;
    this.#at = table.sums.map((column) => columns.indexOf(column));
    this.#sums = table.sums.map(() => 0n);
  }

  add(rows: readonly Row[]): void {
    this.#rows += rows.length;
    for (const row of rows) for (const [sum, at] of this.#at.entries()) this.#sums[sum]! += row[at] as bigint;
  }

  result(): TableTally {
    const { name, sums } = this.#table;
    return {
      table: name,
      rows: this.#rows,
      sums: Object.fromEntries(sums.map((column, sum) => [column, this.#sums[sum]!])),
    };
  }

  differences(other: Tally): string[] {
    const { name, sums } = this.#table;
    const differ = sums.flatMap((column, sum) => {
      const [ours, theirs] = [this.#sums[sum]!, other.#sums[sum]!];
      return ours === theirs ? [] : [`${name}: ${column} adds up to ${ours} in the books and ${theirs} in the copy.`];
    });
    if (this.#rows !== other.#rows) differ.unshift(`${name}: ${this.#rows} rows, and ${other.#rows} in the copy.`);
    return differ;
  }
}

export function keyOf(table: LedgerTable, row: Row): Row {
  return row.slice(0, table.key.length);
}

function firstDifference(rows: readonly Row[], copies: readonly Row[]): Row | null {
  const length = Math.max(rows.length, copies.length);
  for (let at = 0; at < length; at++) {
    const [row, copy] = [rows[at], copies[at]];
    if (row === undefined || copy === undefined) return row ?? copy!;
    if (!row.every((cell, column) => isSame(cell, copy[column]!))) return row;
  }
  return null;
}

function isSame(cell: Cell, copy: Cell): boolean {
  if (cell instanceof Uint8Array && copy instanceof Uint8Array) return Buffer.compare(cell, copy) === 0;
  return cell === copy;
}

/** Only the numbers: other parts of a key may be a caller's own words. */
function describeKey(table: LedgerTable, row: Row): string {
  const numbers = keyOf(table, row).filter((cell) => typeof cell === 'bigint');
  return `${table.key.slice(0, numbers.length).join(', ')} ${numbers.join(', ')}`;
}

async function sum(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
}
