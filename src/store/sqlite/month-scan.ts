import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { MonthCheck } from '../month-check.ts';
import { type ClosedMonth, MONTH_PART, monthName } from '../month-tree.ts';
import type { VerifyReport } from '../store.ts';
import { readMeta } from './meta.ts';
import { lastInTrees, MonthReader } from './months.ts';

/** Rows that are read at a time: more of them would outlive the young generation of the heap, which takes half as long again. */
const READ_ROWS = 1_000;

/** Reads the closed months one after the other, slice by slice, and compares them with their hash trees. */
export class MonthScan {
  readonly #database: DatabaseSync;
  readonly #reader: MonthReader;
  readonly #check: MonthCheck;
  readonly #sinceMonthMs: number | null;
  /** Months still to be compared, with the last id of the previous month. */
  readonly #left: { readonly month: ClosedMonth; readonly after: bigint }[];
  /** How far the first of them was read; null before its beginning. */
  #after: bigint | null = null;

  constructor(database: DatabaseSync, sinceMonthMs: number | null, violate: (sentence: string) => void) {
    this.#database = database;
    this.#sinceMonthMs = sinceMonthMs;
    this.#reader = new MonthReader(database);
    this.#check = new MonthCheck(this.#reader.form, violate);
    const months = this.#reader.months();
    this.#left = months
      .map((month, at) => ({ month, after: months[at - 1]?.up_to ?? 0n }))
      .filter(({ month }) => sinceMonthMs === null || month.month_ms >= sinceMonthMs);
    const lost = database.prepare(
      'SELECT DISTINCT month_ms FROM month_tree WHERE month_ms NOT IN (SELECT month_ms FROM closed_month)',
    );
    for (const { month_ms } of lost.all())
      violate(`Month ${monthName(month_ms as bigint)}: its range of ids is missing.`);
  }

  get rowsTotal(): number {
    return this.#left.reduce((rows, { month }) => rows + this.#kept(month.month_ms), 0);
  }

  /** Reads the next slice, and returns how many rows it had; null if all months were compared. */
  step(): number | null {
    const [next] = this.#left;
    if (next === undefined) return null;
    const { month, after } = next;
    if (this.#after === null) this.#check.begin(month, this.#reader.trees(month.month_ms, MONTH_PART.deleted));
    for (let read = 0; ; ) {
      const rows = this.#reader.rows(this.#after ?? after, month.up_to, READ_ROWS);
      this.#check.add(rows);
      this.#after = rows.at(-1)?.[0] ?? month.up_to;
      read += rows.length;
      if (rows.length < READ_ROWS) this.#endMonth(month);
      if (rows.length < READ_ROWS || read >= LIMITS.storeSliceRows) return read;
    }
  }

  #endMonth(month: ClosedMonth): void {
    const { month_ms } = month;
    this.#check.end(this.#reader.trees(month_ms, MONTH_PART.closed), this.#reader.chunks(month_ms));
    this.#left.shift();
    this.#after = null;
  }

  result(): Pick<VerifyReport, 'closedMonths' | 'closedReceipts' | 'sinceMonthMs' | 'notKept' | 'withoutTree'> {
    const { months, receipts } = this.#check.done;
    const withoutTree = this.#number(
      'SELECT count(*) AS n FROM call WHERE id > ? AND id <= ?',
      lastInTrees(this.#database),
      readMeta(this.#database, 'closed_up_to'),
    );
    const deleted = this.#number('SELECT sum(calls) AS n FROM month_tree WHERE part = ?', MONTH_PART.deleted);
    const inNoTree = this.#number('SELECT sum(calls) AS n FROM closing');
    return {
      closedMonths: months,
      closedReceipts: receipts,
      sinceMonthMs: this.#sinceMonthMs,
      notKept: deleted + Math.max(inNoTree - withoutTree, 0),
      withoutTree,
    };
  }

  #kept(monthMs: bigint): number {
    const sum = 'SELECT sum(iif(part = ?, calls, -calls)) AS n FROM month_tree WHERE month_ms = ?';
    return this.#number(sum, MONTH_PART.closed, monthMs);
  }

  #number(sql: string, ...values: bigint[]): number {
    return Number(this.#database.prepare(sql).get(...values)?.n ?? 0n);
  }
}
