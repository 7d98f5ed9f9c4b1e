import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { INT64_MAX } from '../int64.ts';
import {
  countExpired,
  countSettled,
  findMonths,
  growTrees,
  MONTH_PART,
  type MonthPart,
  type PlacedRow,
  placeInMonths,
} from '../month-tree.ts';
import type { FormRow } from '../receipt-form.ts';
import { readMeta } from './meta.ts';
import { lastInTrees, MonthReader } from './months.ts';
import { type PackedTrees, packTrees } from './packed-trees.ts';
import type { Slice } from './slices.ts';

/** What closing or deleting some calls writes. */
export interface ClosingSlice extends Slice {
  /** Cells of rows of `closed_month`. */
  readonly months: readonly bigint[];
  readonly trees: PackedTrees;
}

/**
 * Reads and hashes the next calls to be closed or deleted, so that the writer has little to do: closed calls do not change
 * any more. Each step reads as of one moment.
 */
export class ClosingSlices {
  readonly #database: DatabaseSync;
  readonly #reader: MonthReader;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#reader = new MonthReader(database);
  }

  /** Calls that an earlier version closed without a tree. */
  nextWithoutTree(): ClosingSlice | null {
    return this.#atOnce(() => {
      const after = lastInTrees(this.#database);
      return this.#grow(after, this.#reader.rows(after, readMeta(this.#database, 'closed_up_to'), ROWS_MAX));
    });
  }

  nextSettled(nowMs: number): ClosingSlice | null {
    return this.#atOnce(() => {
      const after = readMeta(this.#database, 'closed_up_to');
      const rows = this.#reader.rows(after, INT64_MAX, ROWS_MAX);
      return this.#grow(after, rows.slice(0, countSettled(rows, nowMs)));
    });
  }

  nextExpired(beforeMs: number, nowMs: number): ClosingSlice | null {
    return this.#atOnce(() => {
      const rows = this.#reader.rows(0n, lastInTrees(this.#database), ROWS_MAX);
      const times = rows.map(([, , createdMs]) => createdMs);
      const expired = rows.slice(0, countExpired(times, beforeMs, nowMs));
      return this.#slice(0n, expired, [], findMonths(expired, this.#reader.months()), MONTH_PART.deleted);
    });
  }

  #grow(after: bigint, rows: readonly FormRow[]): ClosingSlice | null {
    const placed = placeInMonths(rows, this.#reader.months().at(-1) ?? null);
    const months = placed.months.flatMap(({ month_ms, up_to, latest_ms }) => [month_ms, up_to, latest_ms]);
    return this.#slice(after, rows, months, placed.rows, MONTH_PART.closed);
  }

  #slice(
    after: bigint,
    rows: readonly FormRow[],
    months: readonly bigint[],
    placed: readonly PlacedRow[],
    part: MonthPart,
  ): ClosingSlice | null {
    const last = rows.at(-1);
    if (last === undefined) return null;
    const stored = (monthMs: bigint, accountId: bigint) => this.#reader.tree(monthMs, accountId, part);
    const trees = packTrees(growTrees(placed, part, stored, this.#reader.form));
    return { after, upTo: last[0], rows: rows.length, months, trees };
  }

  #atOnce<Result>(read: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}

const ROWS_MAX = LIMITS.storeWriteSliceRows;
