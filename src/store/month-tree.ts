import { type HashText, HashTree } from '../kit/hash-tree.ts';
import { LIMITS } from '../limits.ts';
import { CALL_STATE } from './codes.ts';
import { INT64_MAX } from './int64.ts';
import { FORM, type FormRow, type ReceiptForm } from './receipt-form.ts';
import { startOfMonthMs } from './windows.ts';

/**
 * Receipts of an account in a month: all that were closed, or those of them that were deleted since. The numbers are in
 * the table `month_tree`.
 */
export const MONTH_PART = { closed: 1n, deleted: 2n } as const;
export type MonthPart = (typeof MONTH_PART)[keyof typeof MONTH_PART];

/** The columns of `month_tree`, those of its key first. */
export const MONTH_TREE_COLUMNS = [
  'month_ms',
  'account_id',
  'part',
  'form',
  'calls',
  'spent',
  'held',
  'loss',
  'root',
  'peaks',
] as const;

/** How many receipts of a tree are a chunk, a complete subtree whose root is stored: see store/programs/receipt-proof.ts. */
export const CHUNK_LEVEL = 7;
export const CHUNK_LEAVES = 2 ** CHUNK_LEVEL;

/** The columns of `tree_chunk`, those of its key first. */
export const TREE_CHUNK_COLUMNS = ['month_ms', 'account_id', 'number', 'up_to', 'hash'] as const;

/** A row of `tree_chunk`. */
export interface TreeChunkRow {
  readonly month_ms: bigint;
  readonly account_id: bigint;
  readonly number: bigint;
  /** The last receipt in it. */
  readonly up_to: bigint;
  readonly hash: Uint8Array;
}

/** A row of `month_tree`, as both engines return it. */
export interface MonthTreeRow extends TreeStart {
  readonly month_ms: bigint;
  readonly account_id: bigint;
  readonly part: bigint;
  readonly root: Uint8Array;
}

/** What is needed to append receipts. */
export interface TreeStart {
  readonly form: bigint;
  readonly calls: bigint;
  readonly spent: bigint;
  readonly held: bigint;
  readonly loss: bigint;
  readonly peaks: Uint8Array;
}

/** An account's receipts of a month in the order of their ids: their number, their sums and their hash tree. */
export class MonthTree {
  readonly #tree: HashTree;
  readonly #chunks: Omit<TreeChunkRow, 'month_ms' | 'account_id'>[] = [];
  /** The number of the first chunk that can be completed. */
  readonly #firstChunk: number;
  #spent: bigint;
  #held: bigint;
  #loss: bigint;

  constructor(row: TreeStart | null = null) {
    if (row !== null && row.form !== BigInt(FORM))
      throw new Error(`Receipts were closed with the unknown form ${row.form}.`);
    this.#tree = row === null ? new HashTree() : new HashTree(Number(row.calls), row.peaks);
    this.#firstChunk = Math.floor(this.#tree.leaves / CHUNK_LEAVES);
    this.#spent = row?.spent ?? 0n;
    this.#held = row?.held ?? 0n;
    this.#loss = row?.loss ?? 0n;
  }

  get calls(): number {
    return this.#tree.leaves;
  }

  append(row: FormRow, form: ReceiptForm): void {
    const [id, , , cost, held, loss] = row;
    const chunk = this.appendLeaf(form.hashOf(row), cost, held, loss);
    if (chunk === null) return;
    const number = BigInt(this.#tree.leaves / CHUNK_LEAVES - 1);
    this.#chunks.push({ number, up_to: id, hash: Buffer.from(chunk, 'latin1') });
  }

  /** Returns the hash of the chunk that the receipt completes. */
  appendLeaf(leaf: HashText, cost: bigint, held: bigint, loss: bigint): HashText | null {
    const chunk = this.#tree.append(leaf, CHUNK_LEVEL);
    this.#spent += cost;
    this.#held += held;
    this.#loss += loss;
    return chunk;
  }

  /** The chunks that were completed since it was opened. */
  chunksOf(monthMs: bigint, accountId: bigint): TreeChunkRow[] {
    return this.#chunks.map((chunk) => ({ month_ms: monthMs, account_id: accountId, ...chunk }));
  }

  /** Whether a stored chunk matches its receipts. True if they were deleted, because it cannot be checked then. */
  hasChunk({ number, up_to, hash }: TreeChunkRow): boolean {
    const at = Number(number) - this.#firstChunk;
    const chunk = this.#chunks[at];
    return at < 0 || (chunk?.up_to === up_to && Buffer.compare(chunk.hash, hash) === 0);
  }

  rowOf(monthMs: bigint, accountId: bigint, part: MonthPart): MonthTreeRow {
    return {
      month_ms: monthMs,
      account_id: accountId,
      part,
      form: BigInt(FORM),
      calls: BigInt(this.#tree.leaves),
      spent: inInt64(this.#spent),
      held: inInt64(this.#held),
      loss: inInt64(this.#loss),
      root: this.#tree.root,
      peaks: this.#tree.peaks,
    };
  }
}

/** Sums of held amounts and losses have no limit; beyond 64 bits they stay at the largest number. */
function inInt64(sum: bigint): bigint {
  return sum > INT64_MAX ? INT64_MAX : sum;
}

/**
 * A row of `closed_month`: the month's calls are those with an id above the last one of the previous month, up to `up_to`.
 * `latest_ms` is the latest time of creation of any call so far.
 */
export interface ClosedMonth {
  readonly month_ms: bigint;
  readonly up_to: bigint;
  readonly latest_ms: bigint;
}

/** A call of a slice, with its month. */
export interface PlacedRow {
  readonly monthMs: bigint;
  readonly row: FormRow;
}

interface PlacedSlice {
  readonly rows: readonly PlacedRow[];
  /** The months that begin or grow. */
  readonly months: readonly ClosedMonth[];
}

/**
 * Puts the next calls, in the order of their ids, into months. The month of a call is that of the latest creation time
 * so far. So months follow each other in the order of ids, and a call is never added to an earlier month than the call
 * before it. A time in the future is a mistake of the clock and begins no month: all calls until then would be in it.
 */
export function placeInMonths(rows: readonly FormRow[], last: ClosedMonth | null, nowMs: number): PlacedSlice {
  const months = new Map<bigint, ClosedMonth>();
  let latestMs = last?.latest_ms ?? null;
  let monthMs = last?.month_ms ?? 0n;
  const placed = rows.map((row) => {
    const [id, , givenMs] = row;
    const createdMs = givenMs <= nowMs ? givenMs : (latestMs ?? BigInt(nowMs));
    if (latestMs === null || createdMs > latestMs) {
      latestMs = createdMs;
      monthMs = BigInt(startOfMonthMs(Number(createdMs)));
    }
    months.set(monthMs, { month_ms: monthMs, up_to: id, latest_ms: latestMs });
    return { monthMs, row };
  });
  return { rows: placed, months: [...months.values()] };
}

/** Puts closed calls into their months by their ids; ids after the last month are in none. */
export function findMonths(rows: readonly FormRow[], months: readonly ClosedMonth[]): PlacedRow[] {
  let at = 0;
  return rows.flatMap((row) => {
    while (at < months.length && months[at]!.up_to < row[0]) at++;
    const month = months[at];
    return month === undefined ? [] : [{ monthMs: month.month_ms, row }];
  });
}

/** How many of the next calls can no longer change: none is open, and none is so recent that one may get a lower id. */
export function countSettled(rows: readonly FormRow[], nowMs: number): number {
  const end = rows.findIndex((row) => row[8] === CALL_STATE.of.open || isRecent(Number(row[2]), nowMs));
  return end === -1 ? rows.length : end;
}

/**
 * A call from further in the future was made while the clock was ahead. It does not count as recent: closing would have to wait
 * for its time, although no call can get a lower id any more (see `Beat`).
 */
export function isRecent(createdMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - createdMs) < LIMITS.closingAgeMs;
}

/**
 * How many of the oldest calls may be deleted: those up to the first that was created at that time or later, because a
 * tree can be continued only after deletions from its beginning. A time in the future is a mistake of the clock and does
 * not stop later calls from being deleted.
 */
export function countExpired(createdMs: readonly (bigint | number)[], beforeMs: number, nowMs: number): number {
  const kept = createdMs.findIndex((ms) => ms >= beforeMs && ms <= nowMs);
  const old = kept === -1 ? createdMs : createdMs.slice(0, kept);
  return old.findLastIndex((ms) => ms < beforeMs) + 1;
}

/** Looks up the trees of these accounts in a month. */
type StoredTrees = (monthMs: bigint, accountId: bigint) => TreeStart | null;

interface GrownTrees {
  readonly trees: readonly MonthTreeRow[];
  readonly chunks: readonly TreeChunkRow[];
}

/** The trees that these calls belong to, with the calls appended. */
export function growTrees(
  rows: readonly PlacedRow[],
  part: MonthPart,
  stored: StoredTrees,
  form: ReceiptForm,
): GrownTrees {
  const byMonth = new Map<bigint, Map<bigint, MonthTree>>();
  for (const { monthMs, row } of rows) {
    const trees = byMonth.get(monthMs) ?? new Map<bigint, MonthTree>();
    byMonth.set(monthMs, trees);
    const accountId = row[1];
    const tree = trees.get(accountId) ?? new MonthTree(stored(monthMs, accountId));
    trees.set(accountId, tree);
    tree.append(row, form);
  }
  const grown = [...byMonth].flatMap(([monthMs, trees]) =>
    [...trees].map(([accountId, tree]) => ({ monthMs, accountId, tree })),
  );
  return {
    trees: grown.map(({ monthMs, accountId, tree }) => tree.rowOf(monthMs, accountId, part)),
    chunks:
      part === MONTH_PART.closed
        ? grown.flatMap(({ monthMs, accountId, tree }) => tree.chunksOf(monthMs, accountId))
        : [],
  };
}

/** `2026-03`; a number that cannot be a time stays a number. */
export function monthName(monthMs: bigint | number): string {
  const date = new Date(Number(monthMs));
  return Number.isNaN(date.getTime()) ? String(monthMs) : date.toISOString().slice(0, 7);
}
