import { LIMITS } from '../../limits.ts';
import { MonthCheck } from '../month-check.ts';
import { type ClosedMonth, MONTH_PART, monthName } from '../month-tree.ts';
import type { VerifyReport } from '../store.ts';
import type { RunSql } from './connections.ts';
import { closedUpTo, lastInTrees, MonthReader } from './months.ts';

/** Reads the closed months one after the other, slice by slice, and compares them with their hash trees. */
export class MonthScan {
  readonly #reader = new MonthReader();
  readonly #check: MonthCheck;
  readonly #violate: (sentence: string) => void;
  readonly #sinceMonthMs: number | null;
  /** Months still to be compared, with the last id of the previous month. */
  #left: { readonly month: ClosedMonth; readonly after: bigint }[] = [];
  /** How far the first of them was read; null before its beginning. */
  #after: bigint | null = null;

  constructor(sinceMonthMs: number | null, violate: (sentence: string) => void) {
    this.#sinceMonthMs = sinceMonthMs;
    this.#violate = violate;
    this.#check = new MonthCheck(this.#reader.form, violate);
  }

  /** Returns how many rows will be read. */
  async begin(sql: RunSql): Promise<number> {
    const since = this.#sinceMonthMs;
    const months = await this.#reader.months(sql);
    this.#left = months
      .map((month, at) => ({ month, after: months[at - 1]?.up_to ?? 0n }))
      .filter(({ month }) => since === null || month.month_ms >= since);
    const lost = await sql<{ month_ms: bigint }>(
      'SELECT DISTINCT month_ms FROM month_tree WHERE month_ms NOT IN (SELECT month_ms FROM closed_month) ORDER BY 1',
    );
    for (const { month_ms } of lost) this.#violate(`Month ${monthName(month_ms)}: its range of ids is missing.`);
    const kept = 'SELECT sum(CASE part WHEN $1 THEN calls ELSE -calls END) AS n FROM month_tree WHERE month_ms >= $2';
    return count(sql, kept, [MONTH_PART.closed, since ?? 0]);
  }

  /** Reads the next slice, and returns how many rows it had; null if all months were compared. */
  async step(sql: RunSql): Promise<number | null> {
    const [next] = this.#left;
    if (next === undefined) return null;
    const { month, after } = next;
    if (this.#after === null) this.#check.begin(month, await this.#trees(sql, month, MONTH_PART.deleted));
    const rows = await this.#reader.rows(sql, this.#after ?? after, month.up_to, LIMITS.storeSliceRows);
    this.#check.add(rows);
    this.#after = rows.at(-1)?.[0] ?? month.up_to;
    if (rows.length === LIMITS.storeSliceRows) return rows.length;
    const chunks = await this.#reader.chunks(sql, month.month_ms);
    this.#check.end(await this.#trees(sql, month, MONTH_PART.closed), chunks);
    this.#left.shift();
    this.#after = null;
    return rows.length;
  }

  async result(
    sql: RunSql,
  ): Promise<Pick<VerifyReport, 'closedMonths' | 'closedReceipts' | 'sinceMonthMs' | 'notKept' | 'withoutTree'>> {
    const { months, receipts } = this.#check.done;
    const span = [await lastInTrees(sql), await closedUpTo(sql)];
    const withoutTree = await count(sql, 'SELECT count(*) AS n FROM call WHERE id > $1 AND id <= $2', span);
    const deleted = await count(sql, 'SELECT sum(calls) AS n FROM month_tree WHERE part = $1', [MONTH_PART.deleted]);
    const inNoTree = await count(sql, 'SELECT sum(calls) AS n FROM closing');
    return {
      closedMonths: months,
      closedReceipts: receipts,
      sinceMonthMs: this.#sinceMonthMs,
      notKept: deleted + Math.max(inNoTree - withoutTree, 0),
      withoutTree,
    };
  }

  #trees(sql: RunSql, { month_ms }: ClosedMonth, part: (typeof MONTH_PART)[keyof typeof MONTH_PART]) {
    return this.#reader.trees(sql, month_ms, part);
  }
}

async function count(sql: RunSql, text: string, values: readonly unknown[] = []): Promise<number> {
  const [row] = await sql<{ n: bigint | null }>(text, values);
  return Number(row?.n ?? 0n);
}
