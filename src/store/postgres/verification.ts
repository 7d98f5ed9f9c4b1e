import { LIMITS } from '../../limits.ts';
import { ACCOUNT_KIND, CALL_STATE, IDEMPOTENCY_STATE } from '../codes.ts';
import { IS_OF_JOB } from '../idempotency.ts';
import { MONTH_PART } from '../month-tree.ts';
import { checkJobs } from '../programs/job-check.ts';
import { UsageCheck } from '../programs/usage-check.ts';
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
import type { Connections, RunSql } from './connections.ts';
import { runProgram } from './directory.ts';
import { MonthScan } from './month-scan.ts';
import { nextSettledSlice, nextSlice, ONE_MOMENT, type Slice } from './slices.ts';

const { open, settled, voided } = CALL_STATE.of;
const VALID = validCall({ least: 'least', firstAmount: 'fresh::numeric' });

/** Numbers without a text, left by processes that wrote to an older state with what they remembered of a newer one. */
const DANGLING = [
  'price_id NOT IN (SELECT id FROM price_list)',
  ...['route', 'requested_model', 'effective_model', 'host'].map((column) => `${column} NOT IN (SELECT id FROM name)`),
].join(' OR ');

type Columns = Readonly<Record<string, bigint>>;

/** Null where the account has no balance, which is a violation. */
interface StoredBalance {
  readonly id: bigint;
  readonly kind: bigint | null;
  readonly balance: bigint | null;
  readonly held: bigint | null;
  readonly reserved: bigint | null;
  readonly spent: bigint | null;
  readonly credited: bigint;
}

/**
 * Recomputes every sum from its entries. Closed months are compared with their hash trees first. Then calls that can no
 * longer change are summed slice by slice, each in a short read; the rest, the balances and the credits are read as of
 * one moment, in the last step. Nothing may be closed meanwhile.
 */
export class Verification {
  readonly #connections: Connections;
  readonly #nowMs: number;
  readonly #accounts = new Map<bigint, Sums>();
  readonly #windows = new Map(WINDOW_TABLES.map((table) => [table, new Map<string, Sums>()]));
  readonly #violations = new Violations();
  readonly #months: MonthScan;
  /** Null: the usage sums are not compared. */
  readonly #usage: UsageCheck | null;
  #rowsTotal = 0;
  #rowsRead = 0;
  #after = 0n;
  #calls = 0n;
  #openHolds = 0n;
  #loss = 0n;

  constructor(connections: Connections, nowMs: number, sinceMonthMs: number | null, usage: boolean) {
    this.#connections = connections;
    this.#nowMs = nowMs;
    this.#months = new MonthScan(sinceMonthMs, this.#violations.add);
    this.#usage = usage ? new UsageCheck(sinceMonthMs, this.#violations.add) : null;
  }

  async run(progress: (done: VerifyProgress) => void): Promise<VerifyReport> {
    await this.#connections.transaction((sql) => this.#begin(sql), ONE_MOMENT);
    for (;;) {
      const report = await this.#connections.transaction((sql) => this.#step(sql), ONE_MOMENT);
      progress({ rowsRead: this.#rowsRead, rowsTotal: Math.max(this.#rowsTotal, this.#rowsRead) });
      if (report !== null) return report;
    }
  }

  async #begin(sql: RunSql): Promise<void> {
    const [closed] = await sql<Columns>("SELECT value FROM meta WHERE name = 'closed_up_to'");
    this.#after = closed!.value!;
    const [count] = await sql<Columns>('SELECT count(*) AS rows FROM call WHERE id > $1', [this.#after]);
    // Closed receipts are read for the trees, and once more for the usage sums.
    this.#rowsTotal = Number(count!.rows) + (this.#usage === null ? 1 : 2) * (await this.#months.begin(sql));
  }

  /** Null until the last step. */
  async #step(sql: RunSql): Promise<VerifyReport | null> {
    const closed = await this.#months.step(sql);
    this.#rowsRead += closed ?? 0;
    if (closed !== null) return null;
    const compared = this.#usage === null ? null : await runProgram(sql, this.#usage.step());
    this.#rowsRead += compared ?? 0;
    if (compared !== null) return null;
    const slice = await nextSettledSlice(sql, this.#after, this.#nowMs, LIMITS.storeSliceRows);
    if (slice.rows === 0) return this.#lastStep(sql);
    await this.#add(sql, slice);
    return null;
  }

  async #lastStep(sql: RunSql): Promise<VerifyReport> {
    for (;;) {
      const slice = await nextSlice(sql, this.#after, LIMITS.storeSliceRows);
      if (slice.rows === 0) break;
      await this.#add(sql, slice);
    }
    await this.#addClosings(sql);
    const accounts = await this.#compareBalances(sql);
    await this.#compareWindows(sql);
    await this.#compareIdempotencyKeys(sql);
    await this.#compareRefunds(sql);
    for (const sentence of await runProgram(sql, checkJobs(VIOLATIONS_MAX))) this.#violations.add(sentence);
    return {
      accounts,
      keys: await count(sql, 'api_key'),
      receipts: Number(this.#calls - this.#openHolds),
      credits: await count(sql, 'credit WHERE call_id IS NULL'),
      refunds: await count(sql, 'credit WHERE call_id IS NOT NULL'),
      openHolds: Number(this.#openHolds),
      lossNanousd: this.#loss,
      ...(await this.#months.result(sql)),
      violations: this.#violations.sentences,
    };
  }

  async #add(sql: RunSql, { after, upTo, rows }: Slice): Promise<void> {
    const span = [after, upTo];
    await this.#addCalls(sql, span);
    await this.#addWindows(sql, span);
    const invalid = await sql<Columns>(
      `SELECT id FROM call WHERE id > $1 AND id <= $2 AND (${VALID}) IS NOT TRUE ORDER BY id LIMIT ${VIOLATIONS_MAX}`,
      span,
    );
    for (const { id } of invalid) this.#violations.add(`Call ${id}: its columns do not match its state.`);
    const nameless = await sql<Columns>(
      `SELECT id FROM call WHERE id > $1 AND id <= $2 AND (${DANGLING}) ORDER BY id LIMIT ${VIOLATIONS_MAX}`,
      span,
    );
    for (const { id } of nameless)
      this.#violations.add(`Call ${id}: its price list or one of its names does not exist.`);
    this.#after = upTo;
    this.#rowsRead += rows;
  }

  async #addCalls(sql: RunSql, span: readonly bigint[]): Promise<void> {
    const rows = await sql<CallSums>(
      `SELECT account_id, count(*) AS calls, count(*) FILTER (WHERE state = ${open}) AS open, sum(cost) AS spent,
         coalesce(sum(held) FILTER (WHERE state = ${open}), 0) AS held, sum(coalesce(loss, 0)) AS loss
       FROM call WHERE id > $1 AND id <= $2 GROUP BY account_id`,
      span,
    );
    for (const row of rows) {
      addTo(this.#accounts, row.account_id, row.spent, row.held);
      this.#calls += row.calls;
      this.#openHolds += row.open;
      this.#loss += row.loss;
    }
  }

  async #addWindows(sql: RunSql, span: readonly bigint[]): Promise<void> {
    const amounts = `sum(cost) AS spent, coalesce(sum(held) FILTER (WHERE state = ${open}), 0) AS held`;
    for (const [table, windows] of this.#windows) {
      const rows = await sql<Columns>(sumsByWindow(table, amounts, 'id > $1 AND id <= $2'), span);
      for (const row of rows) addTo(windows, windowOf(table, row), row.spent!, row.held!);
    }
  }

  async #addClosings(sql: RunSql): Promise<void> {
    const rows = await sql<ClosedSums>(
      `SELECT account_id, sum(calls) AS calls, sum(spent) AS spent, sum(loss) AS loss FROM (
         SELECT account_id, calls, spent, loss FROM closing
         UNION ALL SELECT account_id, calls, spent, loss FROM month_tree WHERE part = ${MONTH_PART.closed}) AS part
       GROUP BY account_id`,
    );
    for (const row of rows) {
      addTo(this.#accounts, row.account_id, row.spent, 0n);
      this.#calls += row.calls;
      this.#loss += row.loss;
    }
  }

  async #compareBalances(sql: RunSql): Promise<number> {
    const { unlimited } = ACCOUNT_KIND.of;
    const rows = await sql<StoredBalance>(
      `SELECT account.id, balance.kind, balance, held, reserved, spent, coalesce(credited, 0) AS credited
       FROM account LEFT JOIN balance ON balance.account_id = account.id
       LEFT JOIN (SELECT account_id, sum(amount) AS credited FROM credit GROUP BY 1) AS credit
         ON credit.account_id = account.id
       ORDER BY account.id`,
    );
    for (const row of rows) {
      const sums = this.#accounts.get(row.id) ?? { spent: 0n, held: 0n };
      this.#accounts.delete(row.id);
      this.#violations.compare(`Account ${row.id}: balance`, row.balance, row.credited - sums.spent);
      this.#violations.compare(`Account ${row.id}: held`, row.held, sums.held);
      this.#violations.compare(`Account ${row.id}: spent`, row.spent, sums.spent);
      const taken = (row.held ?? 0n) + (row.reserved ?? 0n);
      const isOverdrawn = row.kind !== unlimited && row.balance !== null && row.balance < taken;
      if (isOverdrawn)
        this.#violations.add(`Account ${row.id}: ${taken} held or reserved with a balance of ${row.balance}.`);
    }
    for (const id of this.#accounts.keys())
      this.#violations.add(`Account ${id} does not exist, but calls refer to it.`);
    return rows.length;
  }

  async #compareWindows(sql: RunSql): Promise<void> {
    for (const [table, windows] of this.#windows) {
      for (const row of await sql<Columns>(`SELECT * FROM ${table.name}`)) {
        const name = windowOf(table, row);
        const sums = windows.get(name) ?? { spent: 0n, held: 0n };
        windows.delete(name);
        this.#violations.compare(`${name}: spent`, row.spent!, row.closed! + sums.spent);
        this.#violations.compare(`${name}: held`, row.held!, sums.held);
      }
      for (const name of windows.keys()) this.#violations.add(`${name} does not exist, but calls refer to it.`);
    }
  }

  /** An idempotency key and its call must agree, unless the call was deleted. */
  async #compareIdempotencyKeys(sql: RunSql): Promise<void> {
    const { running, finished, unknown } = IDEMPOTENCY_STATE.of;
    const wrong = await sql<Columns>(
      `SELECT entry.account_id, entry.call_id FROM idempotency_key AS entry LEFT JOIN call ON call.id = call_id
       WHERE NOT (${IS_OF_JOB}) AND (CASE WHEN call.id IS NULL THEN entry.state <> ${running}
           AND entry.call_id <= (SELECT value FROM meta WHERE name = 'closed_up_to')
         ELSE call.account_id = entry.account_id AND call.idempotency_key = entry.key AND CASE entry.state
           WHEN ${running} THEN call.state = ${open} WHEN ${finished} THEN call.state = ${settled}
           WHEN ${unknown} THEN call.state = ${voided} END END) IS NOT TRUE LIMIT ${VIOLATIONS_MAX}`,
    );
    for (const row of wrong)
      this.#violations.add(`Account ${row.account_id}: an idempotency key does not match its call ${row.call_id}.`);
    const bare = await sql<Columns>(
      `SELECT id FROM call WHERE state = ${open} AND idempotency_key IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM idempotency_key AS entry
         WHERE entry.account_id = call.account_id AND entry.key = call.idempotency_key AND entry.call_id = call.id)
       LIMIT ${VIOLATIONS_MAX}`,
    );
    for (const { id } of bare)
      this.#violations.add(`Call ${id} is open, but its idempotency key belongs to another call.`);
  }

  async #compareRefunds(sql: RunSql): Promise<void> {
    const wrong = await sql<Columns>(`${WRONG_REFUNDS} LIMIT ${VIOLATIONS_MAX}`);
    for (const { id } of wrong)
      this.#violations.add(`Call ${id}: its refunds exceed its cost, or it cannot be refunded.`);
  }
}

async function count(sql: RunSql, table: string): Promise<number> {
  const [row] = await sql<Columns>(`SELECT count(*) AS rows FROM ${table}`);
  return Number(row!.rows);
}
