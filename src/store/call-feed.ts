import type { Receipt } from '../canonical/receipt.ts';

/** Whose call it is, which decides who may see its receipt. */
export interface CallOwner {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
}

/** What a feed of receipts reads. No index orders calls by their end: keeping one would slow every call down. */
export interface FeedReads {
  /** Calls that run now, at most this many, in any order. */
  openCalls(limit: number): Promise<CallOwner[]>;
  /** Calls with this id or a later one that ended at this time or later, at most this many, by id. */
  endedCalls(fromId: bigint, sinceMs: number, limit: number): Promise<CallOwner[]>;
  /** The receipts of those of these calls that have ended, by id. At most a page of ids. */
  endedReceipts(ids: readonly bigint[]): Promise<Receipt[]>;
}
