import { LIMITS } from '../../limits.ts';
import { INT64_MAX } from '../int64.ts';
import {
  type ClosedMonth,
  countExpired,
  countSettled,
  findMonths,
  growTrees,
  MONTH_PART,
  type MonthPart,
  type MonthTreeRow,
  type PlacedRow,
  placeInMonths,
  type TreeChunkRow,
} from '../month-tree.ts';
import { usageUpTo } from '../programs/usage-sums.ts';
import type { FormRow } from '../receipt-form.ts';
import type { Connections, RunSql } from './connections.ts';
import { runProgram } from './directory.ts';
import { closedUpTo, lastInTrees, MonthReader } from './months.ts';
import { nextSlice, ONE_MOMENT, type Slice } from './slices.ts';

/** What closing or deleting some calls writes. */
export interface ClosingSlice extends Slice {
  readonly months: readonly ClosedMonth[];
  readonly trees: readonly MonthTreeRow[];
  readonly chunks: readonly TreeChunkRow[];
}

const ROWS_MAX = LIMITS.postgresClosingRows;

/**
 * Reads and hashes the next calls to be closed or deleted, before the transaction that writes: closed calls no longer
 * change. Each step reads as of one moment.
 */
export class ClosingSlices {
  readonly #connections: Connections;
  readonly #reader = new MonthReader();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Calls that an earlier version closed without a tree. */
  nextWithoutTree(nowMs: number): Promise<ClosingSlice | null> {
    return this.#atOnce(async (sql) => {
      const after = await lastInTrees(sql);
      const rows = await this.#reader.rows(sql, after, await closedUpTo(sql), ROWS_MAX);
      return this.#grow(sql, after, rows, nowMs);
    });
  }

  /** Calls that an earlier version closed without adding them to the usage sums. */
  nextWithoutUsage(): Promise<Slice | null> {
    return this.#atOnce(async (sql) => {
      const after = await runProgram(sql, usageUpTo());
      const closed = await closedUpTo(sql);
      if (after >= closed) return null;
      const slice = await nextSlice(sql, after, ROWS_MAX, closed);
      return slice.rows < ROWS_MAX ? { ...slice, upTo: closed } : slice;
    });
  }

  nextSettled(nowMs: number): Promise<ClosingSlice | null> {
    return this.#atOnce(async (sql) => {
      const after = await closedUpTo(sql);
      const rows = await this.#reader.rows(sql, after, INT64_MAX, ROWS_MAX);
      return this.#grow(sql, after, rows.slice(0, countSettled(rows, nowMs)), nowMs);
    });
  }

  nextExpired(beforeMs: number, nowMs: number): Promise<ClosingSlice | null> {
    return this.#atOnce(async (sql) => {
      const rows = await this.#reader.rows(sql, 0n, await lastInTrees(sql), ROWS_MAX);
      const times = rows.map(([, , createdMs]) => createdMs);
      const expired = rows.slice(0, countExpired(times, beforeMs, nowMs));
      const placed = findMonths(expired, await this.#reader.months(sql));
      return this.#slice(sql, 0n, expired, [], placed, MONTH_PART.deleted);
    });
  }

  /** Receipts up to this one, which are in a file of the archive. */
  nextArchived(upTo: bigint): Promise<ClosingSlice | null> {
    return this.#atOnce(async (sql) => {
      const rows = await this.#reader.rows(sql, 0n, upTo, ROWS_MAX);
      return this.#slice(sql, 0n, rows, [], findMonths(rows, await this.#reader.months(sql)), MONTH_PART.deleted);
    });
  }

  async #grow(sql: RunSql, after: bigint, rows: readonly FormRow[], nowMs: number): Promise<ClosingSlice | null> {
    const months = await this.#reader.months(sql);
    const placed = placeInMonths(rows, months.at(-1) ?? null, nowMs);
    return this.#slice(sql, after, rows, placed.months, placed.rows, MONTH_PART.closed);
  }

  async #slice(
    sql: RunSql,
    after: bigint,
    rows: readonly FormRow[],
    months: readonly ClosedMonth[],
    placed: readonly PlacedRow[],
    part: MonthPart,
  ): Promise<ClosingSlice | null> {
    const last = rows.at(-1);
    if (last === undefined) return null;
    const stored = await this.#reader.treesOf(sql, placed, part);
    const grown = growTrees(placed, part, stored, this.#reader.form);
    return { after, upTo: last[0], rows: rows.length, months, ...grown };
  }

  #atOnce<Result>(read: (sql: RunSql) => Promise<Result>): Promise<Result> {
    return this.#connections.transaction(read, ONE_MOMENT);
  }
}
