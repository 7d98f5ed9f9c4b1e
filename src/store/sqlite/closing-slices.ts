import type { DatabaseSync } from 'node:sqlite';
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
  TREE_CHUNK_COLUMNS,
} from '../month-tree.ts';
import { usageUpTo } from '../programs/usage-sums.ts';
import type { FormRow } from '../receipt-form.ts';
import { atOneMoment } from './database.ts';
import { runProgram } from './directory.ts';
import { readMeta } from './meta.ts';
import { lastInTrees, MonthReader } from './months.ts';
import { type PackedTrees, packTrees } from './packed-trees.ts';
import { nextSlice, type Slice } from './slices.ts';
import { type AddedUsage, readUsage } from './usage-sums.ts';

/** What closing or deleting some calls writes. */
export interface ClosingSlice extends Slice {
  /** Cells of rows of `closed_month`. */
  readonly months: readonly bigint[];
  readonly trees: PackedTrees;
  /** Cells of rows of `tree_chunk`. */
  readonly chunks: readonly (bigint | Uint8Array)[];
}

/** Calls with what they add to the usage sums. */
export interface UsageSlice extends Slice {
  readonly usage: AddedUsage;
}

export type SettledSlice = ClosingSlice & UsageSlice;

/**
 * Reads and hashes the next calls to be closed or deleted, so that the writer has little to do: closed calls no longer
 * change. Each step reads as of one moment.
 */
export class ClosingSlices {
  readonly #database: DatabaseSync;
  readonly #reader: MonthReader;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#reader = new MonthReader(database);
  }

  /** Calls that an earlier version closed without a tree. */
  nextWithoutTree(nowMs: number, rowsMax: number): ClosingSlice | null {
    return atOneMoment(this.#database, () => {
      const after = lastInTrees(this.#database);
      const rows = this.#reader.rows(after, readMeta(this.#database, 'closed_up_to'), rowsMax);
      return this.#grow(after, rows, nowMs);
    });
  }

  /** Calls that an earlier version closed without adding them to the usage sums. */
  nextWithoutUsage(rowsMax: number): UsageSlice | null {
    return atOneMoment(this.#database, () => {
      const after = runProgram(this.#database, usageUpTo());
      const closed = readMeta(this.#database, 'closed_up_to');
      if (after >= closed) return null;
      const slice = nextSlice(this.#database, after, rowsMax, closed);
      const span = slice.rows < rowsMax ? { ...slice, upTo: closed } : slice;
      return { ...span, usage: readUsage(this.#database, span) };
    });
  }

  nextSettled(nowMs: number, rowsMax: number): SettledSlice | null {
    return atOneMoment(this.#database, () => {
      const after = readMeta(this.#database, 'closed_up_to');
      const rows = this.#reader.rows(after, INT64_MAX, rowsMax);
      const slice = this.#grow(after, rows.slice(0, countSettled(rows, nowMs)), nowMs);
      return slice === null ? null : { ...slice, usage: readUsage(this.#database, slice) };
    });
  }

  nextExpired(beforeMs: number, nowMs: number, rowsMax: number): ClosingSlice | null {
    return atOneMoment(this.#database, () => {
      const rows = this.#reader.rows(0n, lastInTrees(this.#database), rowsMax);
      const times = rows.map(([, , createdMs]) => createdMs);
      const expired = rows.slice(0, countExpired(times, beforeMs, nowMs));
      return this.#slice(0n, expired, [], findMonths(expired, this.#reader.months()), MONTH_PART.deleted);
    });
  }

  /** Receipts up to this one, which are in a file of the archive. */
  nextArchived(upTo: bigint, rowsMax: number): ClosingSlice | null {
    return atOneMoment(this.#database, () => {
      const rows = this.#reader.rows(0n, upTo, rowsMax);
      return this.#slice(0n, rows, [], findMonths(rows, this.#reader.months()), MONTH_PART.deleted);
    });
  }

  #grow(after: bigint, rows: readonly FormRow[], nowMs: number): ClosingSlice | null {
    const placed = placeInMonths(rows, this.#reader.months().at(-1) ?? null, nowMs);
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
    const { trees, chunks } = growTrees(placed, part, stored, this.#reader.form);
    const cells = chunks.flatMap((chunk) => TREE_CHUNK_COLUMNS.map((column) => chunk[column]));
    return { after, upTo: last[0], rows: rows.length, months, trees: packTrees(trees), chunks: cells };
  }
}
