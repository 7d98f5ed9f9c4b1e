import type { Ended, Receipt, ReceiptState } from '../canonical/receipt.ts';
import { idFloorAt } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { INT64_MAX } from './int64.ts';

/** Null leaves a condition out. */
export interface AccountReceiptFilter {
  /** Null, for the operator, for all accounts. */
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  /** Whose key it was at the time of the call. */
  readonly personId?: bigint | null;
  /** Created then or later. */
  readonly sinceMs: number | null;
  /** Created before. */
  readonly untilMs: number | null;
  /** The requested or the effective model. */
  readonly model: string | null;
  /** The id of the chain, without the place in it. */
  readonly chain: string | null;
  readonly route?: string | null;
  readonly state?: ReceiptState | null;
  readonly ended?: Ended | null;
  readonly host?: string | null;
}

export interface ReceiptPage {
  readonly limit: number;
  /** Receipts that are older than this one. */
  readonly after: bigint | null;
  /** Stops after this many rows, whether or not they match, so that a rare match cannot make a search long. */
  readonly examineMax: number;
}

export interface ReceiptSlice {
  readonly receipts: readonly Receipt[];
  /** Where to continue (`after`). There may be a next page even if this one is not full, or empty. Null at the end. */
  readonly next: bigint | null;
}

/** The ids that a listing looks at: `from` and above, and below `below`. */
interface IdRange {
  readonly from: bigint;
  readonly below: bigint;
}

/**
 * Ids sort by the time of the request, which is a little before the time of the hold, so a range of times is a range of
 * ids with a margin. The exact time is compared row by row.
 */
export function idRangeOf({ sinceMs, untilMs }: AccountReceiptFilter, { after }: ReceiptPage): IdRange {
  const from = sinceMs === null ? 0n : idFloorAt(sinceMs - LIMITS.storeIdLeadMs);
  const end = untilMs === null ? INT64_MAX : idFloorAt(untilMs + LIMITS.storeIdLagMs);
  return { from, below: after !== null && after < end ? after : end };
}

/**
 * The id after which the next page begins; null if there is none. `ids` are the matches, at most one more than the page
 * holds; `examined` is the last row looked at if the search stopped before it had seen all rows.
 */
export function nextOf(ids: readonly bigint[], limit: number, examined: bigint | null): bigint | null {
  return ids.length > limit ? ids[limit - 1]! : examined;
}
