import type { AccountReceiptFilter } from './account-receipts.ts';
import { CALL_STATE, ENDED } from './codes.ts';

/** A filter with the numbers that words are stored as. */
export function codesOf({ state = null, ended = null }: AccountReceiptFilter): {
  readonly state: bigint | null;
  readonly ended: bigint | null;
} {
  return { state: state && CALL_STATE.of[state], ended: ended && ENDED.of[ended] };
}
