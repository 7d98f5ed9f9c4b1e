import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { ACCOUNT_KIND, CALL_STATE, IDEMPOTENCY_STATE } from '../codes.ts';
import { IS_OF_JOB } from '../idempotency.ts';
import { INT64_MAX } from '../int64.ts';
import { MONTH_PART } from '../month-tree.ts';
import { checkJobs } from '../programs/job-check.ts';
import { WRONG_REFUNDS } from '../refund-check.ts';
import type { VerifyProgress, VerifyReport } from '../store.ts';
import {
  addTo,
  type CallSums,
  type ClosedSums,
  type Sums,
  VIOLATIONS_MAX,
  Violations,
  validCall,
} from '../verify-calls.ts';
import { sumsByWindow, WINDOW_TABLES, windowOf } from '../window-tables.ts';
import { runProgram } from './directory.ts';
import { readMeta } from './meta.ts';
import { MonthScan } from './month-scan.ts';
import { readProgress } from './progress.ts';
import { nextSettledSlice, nextSlice, type Slice } from './slices.ts';

const { open, settled, voided } = CALL_STATE.of;
const VALID = validCall({ least: 'min', firstAmount: 'fresh' });

/** Null where the account has no balance, which is a violation. */
interface StoredBalance {
  readonly id: bigint;
  readonly unlimited: bigint | null;
  readonly balance: bigint | null;
  readonly spent: bigint | null;
  readonly reserved: bigint | null;
  readonly credited: bigint;
}

/** How much there is to read. */
export interface VerifySize {
  /** Calls that are not closed. */
  readonly rows: number;
  readonly closedRows: number;
}

/**
 * Recomputes every sum from its entries. Closed months are compared with their hash trees first. Then calls that can no
 * longer change are summed slice by slice, each in a short read; the rest, the balances and the credits are read as of
 * one moment, in the last step.
 */
export class Verification {
  readonly #database: DatabaseSync;
  readonly #nowMs: number;
  readonly #accounts = new Map<bigint, Sums>();
  /** Spent amounts by table and window. */
  readonly #windows = new Map(WINDOW_TABLES.map((table) => [table, new Map<string, bigint>()]));
  readonly #violations = new Violations();
  readonly #months: MonthScan;
  readonly size: VerifySize;
  #rowsRead = 0;
  #after: bigint;
  #calls = 0n;
  #openHolds = 0n;
  #loss = 0n;

  constructor(database: DatabaseSync, nowMs: number, sinceMonthMs: number | null = null) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#after = readMeta(database, 'closed_up_to');
    const [count] = database.prepare('SELECT count(*) AS rows FROM call WHERE id > ?').all(this.#after);
    this.#months = new MonthScan(database, sinceMonthMs, this.#violations.add);
    this.size = { rows: Number(count?.rows), closedRows: this.#months.rowsTotal };
  }

  /** Null until the last step. */
  step(): VerifyReport | null {
    this.#database.exec('BEGIN');
    try {
      const closed = this.#months.step();
      this.#rowsRead += closed ?? 0;
      if (closed !== null) return null;
      const slice = nextSettledSlice(this.#database, this.#after, this.#nowMs, LIMITS.storeSliceRows);
      if (slice.rows === 0) return this.#lastStep();
      this.#add(slice);
      return null;
    } finally {
      this.#database.exec('COMMIT');
    }
  }

  get rowsRead(): number {
    return this.#rowsRead;
  }

  get progress(): VerifyProgress {
    const { rows, closedRows } = this.size;
    return { rowsRead: this.#rowsRead, rowsTotal: Math.max(rows + closedRows, this.#rowsRead) };
  }

  #lastStep(): VerifyReport {
    for (;;) {
      const slice = nextSlice(this.#database, this.#after, LIMITS.storeSliceRows);
      if (slice.rows === 0) break;
      this.#add(slice);
    }
    this.#addClosings();
    this.#compareProgress();
    const accounts = this.#compareBalances();
    this.#compareWindows();
    this.#compareIdempotencyKeys();
    this.#compareRefunds();
    for (const sentence of runProgram(this.#database, checkJobs(VIOLATIONS_MAX))) this.#violations.add(sentence);
    return {
      accounts,
      keys: this.#count('api_key'),
      receipts: Number(this.#calls - this.#openHolds),
      credits: this.#count('credit WHERE call_id IS NULL'),
      refunds: this.#count('credit WHERE call_id IS NOT NULL'),
      openHolds: Number(this.#openHolds),
      lossNanousd: this.#loss,
      ...this.#months.result(),
      violations: this.#violations.sentences,
    };
  }

  #add(slice: Slice): void {
    this.#addCalls(slice);
    this.#addWindows(slice);
    const invalid = this.#database
      .prepare(`SELECT id FROM call WHERE id > ? AND id <= ? AND (${VALID}) IS NOT 1 LIMIT ${VIOLATIONS_MAX}`)
      .all(slice.after, slice.upTo);
    for (const { id } of invalid) this.#violations.add(`Call ${id}: its columns do not match its state.`);
    this.#after = slice.upTo;
    this.#rowsRead += slice.rows;
  }

  #addCalls({ after, upTo }: Slice): void {
    const rows = this.#database
      .prepare(`
        SELECT account_id, count(*) AS calls, sum(state = ${open}) AS open, sum(cost) AS spent,
          sum(iif(state = ${open}, held, 0)) AS held, sum(coalesce(loss, 0)) AS loss
        FROM call WHERE id > ? AND id <= ? GROUP BY account_id`)
      .all(after, upTo) as unknown as CallSums[];
    for (const row of rows) {
      addTo(this.#accounts, row.account_id, row.spent, row.held);
      this.#calls += row.calls;
      this.#openHolds += row.open;
      this.#loss += row.loss;
    }
  }

  #addWindows({ after, upTo }: Slice): void {
    for (const [table, windows] of this.#windows) {
      const rows = this.#database
        .prepare(sumsByWindow(table, 'sum(cost) AS spent', 'id > ? AND id <= ?'))
        .all(after, upTo) as Record<string, bigint>[];
      for (const row of rows) {
        const name = windowOf(table, row);
        windows.set(name, (windows.get(name) ?? 0n) + row.spent!);
      }
    }
  }

  #addClosings(): void {
    const rows = this.#database
      .prepare(`
        SELECT account_id, sum(calls) AS calls, sum(spent) AS spent, sum(loss) AS loss FROM (
          SELECT account_id, calls, spent, loss FROM closing
          UNION ALL SELECT account_id, calls, spent, loss FROM month_tree WHERE part = ${MONTH_PART.closed})
        GROUP BY account_id`)
      .all() as unknown as ClosedSums[];
    for (const row of rows) {
      addTo(this.#accounts, row.account_id, row.spent, 0n);
      this.#calls += row.calls;
      this.#loss += row.loss;
    }
  }

  /** The writer counts receipts and spending as it goes; pages of different age would disagree with it. */
  #compareProgress(): void {
    const spent = [...this.#accounts.values()].reduce((sum, account) => sum + account.spent, 0n);
    const { receipts, spentNanousd } = readProgress(this.#database);
    this.#violations.compare('The number of receipts', receipts, this.#calls - this.#openHolds);
    if (spent <= INT64_MAX) this.#violations.compare('The sum of all spending', spentNanousd, spent);
  }

  #compareBalances(): number {
    let accounts = 0;
    const rows = this.#database
      .prepare(`
        SELECT account.id AS id, balance.kind = ${ACCOUNT_KIND.of.unlimited} AS unlimited, balance, spent, reserved,
          (SELECT coalesce(sum(amount), 0) FROM credit WHERE credit.account_id = account.id) AS credited
        FROM account LEFT JOIN balance ON balance.account_id = account.id`)
      .iterate() as Iterable<unknown> as Iterable<StoredBalance>;
    for (const row of rows) {
      accounts += 1;
      const sums = this.#accounts.get(row.id) ?? { spent: 0n, held: 0n };
      this.#accounts.delete(row.id);
      this.#violations.compare(`Account ${row.id}: balance`, row.balance, row.credited - sums.spent);
      this.#violations.compare(`Account ${row.id}: spent`, row.spent, sums.spent);
      const taken = sums.held + (row.reserved ?? 0n);
      const isOverdrawn = row.unlimited === 0n && row.balance !== null && row.balance < taken;
      if (isOverdrawn)
        this.#violations.add(`Account ${row.id}: ${taken} held or reserved with a balance of ${row.balance}.`);
    }
    for (const id of this.#accounts.keys())
      this.#violations.add(`Account ${id} does not exist, but calls refer to it.`);
    return accounts;
  }

  #compareWindows(): void {
    for (const [table, windows] of this.#windows) {
      const rows = this.#database.prepare(`SELECT * FROM ${table.name}`).iterate() as Iterable<Record<string, bigint>>;
      for (const row of rows) {
        const name = windowOf(table, row);
        const spent = windows.get(name) ?? 0n;
        windows.delete(name);
        this.#violations.compare(`${name}: spent`, row.spent!, row.closed! + spent);
      }
      for (const name of windows.keys()) this.#violations.add(`${name} does not exist, but calls refer to it.`);
    }
  }

  /** An idempotency key and its call must agree, unless the call was deleted. */
  #compareIdempotencyKeys(): void {
    const { running, finished, unknown } = IDEMPOTENCY_STATE.of;
    const wrong = this.#database
      .prepare(`
        SELECT entry.account_id, entry.call_id FROM idempotency_key AS entry LEFT JOIN call ON call.id = call_id
        WHERE NOT (${IS_OF_JOB}) AND (iif(call.id IS NULL, entry.state <> ${running} AND entry.call_id <= ?,
          call.account_id = entry.account_id AND call.idempotency_key = entry.key AND CASE entry.state
            WHEN ${running} THEN call.state = ${open} WHEN ${finished} THEN call.state = ${settled}
            WHEN ${unknown} THEN call.state = ${voided} END)) IS NOT 1 LIMIT ${VIOLATIONS_MAX}`)
      .all(readMeta(this.#database, 'closed_up_to'));
    for (const row of wrong)
      this.#violations.add(`Account ${row.account_id}: an idempotency key does not match its call ${row.call_id}.`);
    const bare = this.#database
      .prepare(`
        SELECT id FROM call WHERE state = ${open} AND idempotency_key IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM idempotency_key AS entry
          WHERE entry.account_id = call.account_id AND entry.key = call.idempotency_key AND entry.call_id = call.id)
        LIMIT ${VIOLATIONS_MAX}`)
      .all();
    for (const { id } of bare)
      this.#violations.add(`Call ${id} is open, but its idempotency key belongs to another call.`);
  }

  #compareRefunds(): void {
    const wrong = this.#database.prepare(`${WRONG_REFUNDS} LIMIT ${VIOLATIONS_MAX}`).all();
    for (const { id } of wrong)
      this.#violations.add(`Call ${id}: its refunds exceed its cost, or it cannot be refunded.`);
  }

  #count(table: string): number {
    return Number(this.#database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  }
}

export function withViolations(report: VerifyReport, violations: readonly string[]): VerifyReport {
  return { ...report, violations: [...violations, ...report.violations].slice(0, VIOLATIONS_MAX) };
}
