import { counted } from '../kit/counted.ts';
import { LIMITS } from '../limits.ts';
import type { VerifyProgress, VerifyReport } from './store.ts';
import { USAGE_KEY } from './usage-dimensions.ts';

/**
 * Copies a ledger from one engine to another, row by row. Both engines have the same tables with the same columns, and
 * ids are kept. A row begins with its key. An interrupted copy resumes after the last key in the target.
 */
export type Cell = bigint | string | Uint8Array | null;
export type Row = readonly Cell[];

export interface LedgerTable {
  readonly name: string;
  /** Rows are read and written in the order of this key. */
  readonly key: readonly string[];
  /** Amounts whose sums are compared. */
  readonly sums: readonly string[];
}

/** In an order in which they can be filled. A test compares the list with the actual tables. */
export const LEDGER_TABLES: readonly LedgerTable[] = [
  { name: 'account', key: ['id'], sums: [] },
  { name: 'person', key: ['id'], sums: [] },
  { name: 'membership', key: ['account_id', 'person_id'], sums: [] },
  { name: 'former_member', key: ['account_id', 'person_id'], sums: [] },
  { name: 'management_key', key: ['id'], sums: [] },
  { name: 'invitation', key: ['id'], sums: [] },
  { name: 'session', key: ['id'], sums: [] },
  { name: 'audit', key: ['id'], sums: [] },
  { name: 'webhook', key: ['id'], sums: [] },
  { name: 'webhook_secret', key: ['id'], sums: [] },
  { name: 'webhook_delivery', key: ['webhook_id', 'event_id'], sums: [] },
  { name: 'alert', key: ['id'], sums: [] },
  { name: 'alert_setting', key: ['account_id'], sums: [] },
  { name: 'token_overrun', key: ['model', 'account_id'], sums: [] },
  { name: 'balance', key: ['account_id'], sums: ['balance', 'held', 'reserved', 'spent'] },
  { name: 'api_key', key: ['id'], sums: [] },
  { name: 'key_secret', key: ['key_id'], sums: [] },
  { name: 'key_window', key: ['key_id', 'window_id'], sums: ['spent', 'held', 'reserved', 'closed'] },
  {
    name: 'person_window',
    key: ['account_id', 'person_id', 'window_id'],
    sums: ['spent', 'held', 'reserved', 'closed'],
  },
  { name: 'name', key: ['id'], sums: [] },
  { name: 'price_list', key: ['id'], sums: [] },
  { name: 'credit', key: ['id'], sums: ['amount'] },
  { name: 'provider_key', key: ['id'], sums: [] },
  { name: 'closing', key: ['account_id', 'month_ms'], sums: ['calls', 'spent', 'loss'] },
  { name: 'closed_month', key: ['month_ms'], sums: [] },
  {
    name: 'month_tree',
    key: ['month_ms', 'account_id', 'part'],
    sums: ['calls', 'spent', 'loss'],
  },
  { name: 'tree_chunk', key: ['month_ms', 'account_id', 'number'], sums: [] },
  { name: 'month_salt', key: ['month_ms'], sums: [] },
  { name: 'month_root', key: ['number'], sums: [] },
  { name: 'receipt_key', key: ['number'], sums: [] },
  { name: 'archive_file', key: ['month_ms', 'number'], sums: ['receipts'] },
  { name: 'usage_hour', key: USAGE_KEY, sums: ['requests', 'cost'] },
  { name: 'usage_day', key: USAGE_KEY, sums: ['requests', 'cost'] },
  { name: 'usage_state', key: ['id'], sums: [] },
  { name: 'refusal_hour', key: ['start_ms', 'account_id', 'key_id', 'code'], sums: ['refused'] },
  { name: 'refusal', key: ['id'], sums: [] },
  { name: 'call', key: ['id'], sums: ['held', 'cost'] },
  { name: 'job_group', key: ['id'], sums: ['reserved', 'charged'] },
  { name: 'job', key: ['id'], sums: ['reserved'] },
  { name: 'job_account', key: ['account_id'], sums: ['waiting', 'running', 'bytes'] },
  { name: 'job_chunk', key: ['job_id', 'attempt', 'digest', 'part'], sums: [] },
  { name: 'job_event', key: ['subject_id'], sums: [] },
  { name: 'idempotency_key', key: ['account_id', 'key'], sums: [] },
  { name: 'accepted_loss', key: ['generation'], sums: ['receipts', 'spent'] },
];

/** Identifies a ledger and its state: every process that opens it for writing raises the epoch. */
export interface LedgerMark {
  readonly ledgerId: bigint;
  readonly epoch: bigint;
}

/** State that is stored outside these tables. */
export interface LedgerState {
  readonly todayMs: bigint;
  readonly closedUpTo: bigint;
  /** The copy is the same ledger: what was signed for it stays true. */
  readonly booksId: bigint;
  readonly generation: bigint;
  readonly jobsGeneration: bigint;
}

export type ColumnsOf = (table: LedgerTable) => readonly string[];

/** A ledger that no process has open, without open holds. */
export interface CopySource {
  readonly mark: LedgerMark;
  readonly state: LedgerState;
  /** The columns of a table, those of its key first. */
  readonly columns: ColumnsOf;
  count(table: LedgerTable): number;
  /**
   * The next rows after that key: at most `LIMITS.copyPageRows`, and at most `LIMITS.copyPageBytes` unless the first
   * row alone is larger.
   */
  page(table: LedgerTable, after: Row | null): Row[];
  verify(progress: (done: VerifyProgress) => void): Promise<VerifyReport>;
}

/** The copy starts, resumes, or starts again because the source was used after an interruption. */
export type CopyStart = 'begun' | 'resumed' | 'begun_anew';

/** This ledger was copied here before and has not been used since. */
export const COPIED_BEFORE = 'copied_before';

/** A ledger is served from one place only: after a copy, the source is marked as moved. */
interface Leaving {
  /** Why this ledger may not be copied elsewhere; null if it has not moved. */
  readonly moved: string | null;
  /** Marks the source as moved, so that no process opens it for writing. The mark is on disk when this returns. */
  leave(): void;
}

const UNMARKED: Leaving = { moved: null, leave: () => undefined };

/** The target of a copy. No process can serve from it before `finish`. */
export interface CopyTarget {
  /** Throws CopyRefused if the target holds another ledger, or if the source has already moved elsewhere. */
  begin(mark: LedgerMark, columns: ColumnsOf, moved?: string | null): Promise<CopyStart | typeof COPIED_BEFORE>;
  /** The key of the last row in the target. */
  lastKey(table: LedgerTable): Promise<Row | null>;
  count(table: LedgerTable): Promise<number>;
  /** Writes the rows after that key, in one commit. */
  write(table: LedgerTable, rows: readonly Row[], after: Row | null): Promise<void>;
  /** Rows after one key up to and including another; null means the beginning or the end. */
  read(table: LedgerTable, after: Row | null, upTo: Row | null): Promise<Row[]>;
  /** The rows as this engine can store them: it cannot store every text of the other engine. */
  asStored(table: LedgerTable, rows: readonly Row[]): readonly Row[];
  setState(state: LedgerState, mark: LedgerMark): Promise<void>;
  verify(progress: (done: VerifyProgress) => void): Promise<VerifyReport>;
  finish(): Promise<void>;
}

/** The copy was refused for this reason, and nothing was copied. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

export interface CopyProgress {
  readonly phase: 'copying' | 'comparing' | 'verifying';
  readonly done: number;
  readonly total: number;
}

interface TableTally {
  readonly table: string;
  readonly rows: number;
  readonly sums: Readonly<Record<string, bigint>>;
}

export interface CopyReport {
  readonly start: CopyStart;
  /** Rows that an earlier attempt had copied. */
  readonly rowsFound: number;
  readonly rowsCopied: number;
  readonly tables: readonly TableTally[];
  readonly source: VerifyReport;
  readonly target: VerifyReport;
  /** All differences and errors that were found. The copy may be used only if this is empty. */
  readonly faults: readonly string[];
}

type Report = (progress: CopyProgress) => void;

/**
 * Copies, reads everything back, verifies both sides, and only then releases the copy. The source is marked as moved
 * before that, so that an interruption can never leave two usable ledgers.
 */
export async function copyLedger(
  source: CopySource,
  target: CopyTarget,
  report: Report,
  { moved, leave }: Leaving = UNMARKED,
): Promise<CopyReport | typeof COPIED_BEFORE> {
  const start = await target.begin(source.mark, source.columns, moved);
  if (start === COPIED_BEFORE) {
    leave();
    return COPIED_BEFORE;
  }
  const rowsFound = await sum(LEDGER_TABLES.map((table) => target.count(table)));
  const total = LEDGER_TABLES.reduce((rows, table) => rows + source.count(table), 0);
  let done = rowsFound;
  const reporting = (phase: CopyProgress['phase']) => (rows: number) => {
    done += rows;
    report({ phase, done, total });
  };
  for (const table of LEDGER_TABLES) await copyTable(source, target, table, reporting('copying'));
  const rowsCopied = done - rowsFound;
  await target.setState(source.state, source.mark);
  done = 0;
  const faults = new Faults();
  const tables: TableTally[] = [];
  for (const table of LEDGER_TABLES)
    tables.push(await compareTable(source, target, table, faults, reporting('comparing')));
  const verified = await verifyBoth(source, target, faults, report);
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
    if (differs !== null) faults.add(`${table.name}: the row ${describeKey(table, differs)} differs.`);
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
  report: Report,
): Promise<Pick<CopyReport, 'source' | 'target'>> {
  const half = (from: number) => (progress: VerifyProgress) =>
    report({ phase: 'verifying', done: from * progress.rowsTotal + progress.rowsRead, total: 2 * progress.rowsTotal });
  const [before, after] = [await source.verify(half(0)), await target.verify(half(1))];
  for (const violation of before.violations) faults.add(`The source: ${violation}`);
  for (const violation of after.violations) faults.add(`The copy: ${violation}`);
  const { violations: _, ...counts } = before;
  for (const [name, value] of Object.entries(counts)) {
    const copied = after[name as keyof typeof counts];
    if (copied !== value) faults.add(`Verification counts ${value} ${name} in the source and ${copied} in the copy.`);
  }
  return { source: before, target: after };
}

/** The first differences; more would not help. */
class Faults {
  readonly list: string[] = [];

  add(fault: string): void {
    if (this.list.length < LIMITS.copyFaultsTold) this.list.push(fault);
  }
}

/** Row count and sums of one table on one side. */
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
      return ours === theirs ? [] : [`${name}: ${column} adds up to ${ours} in the source and ${theirs} in the copy.`];
    });
    if (this.#rows !== other.#rows)
      differ.unshift(`${name}: ${counted(this.#rows, 'row')} in the source and ${other.#rows} in the copy.`);
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

/** Only the numbers, because other parts of a key may be a caller's own text. */
function describeKey(table: LedgerTable, row: Row): string {
  const numbers = keyOf(table, row).filter((cell) => typeof cell === 'bigint');
  return `${table.key.slice(0, numbers.length).join(', ')} ${numbers.join(', ')}`;
}

async function sum(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
}
