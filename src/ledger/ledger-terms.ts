import type { Settlement } from '../canonical/receipt.ts';
import type { JobEnd, ReserveOperation } from '../store/jobs.ts';
import type { Member } from '../store/people.ts';
import type { Account, HoldOperation, KeyWindow, LedgerOutcome } from '../store/store.ts';
import type { ResultOf } from './ledger-results.ts';

export type HoldRequest = Omit<HoldOperation, 'kind' | 'epoch' | 'createdMs'>;
export type HoldResult = ResultOf<'hold'>;
export type ReserveRequest = Omit<ReserveOperation, 'kind'>;
export type ReserveResult = ResultOf<'reserve'>;
export type StartResult = ResultOf<'start'>;
export type ReleaseResult = ResultOf<'release'>;
export type Repeat = Extract<LedgerOutcome, { kind: 'idempotent' }>;
export type CreditResult = ResultOf<'credit'>;

/** `settlement` is the one that was stored: the one asked for, or one without a charge if the hold had been voided. */
export interface SettleResult {
  /** `over_allowance`: the account's loss allowance does not cover the loss. Nothing was settled; the hold stays open. */
  readonly kind: 'settled' | 'found_void' | 'over_allowance';
  readonly settlement: Settlement;
}

export interface SettleTerms {
  /** The encrypted response to replay under the hold's idempotency key. */
  readonly kept?: Uint8Array | null;
  /** The monotonic time until which an unavailable store is retried; without it, a settlement fails at once. */
  readonly waitUntilMs?: number;
  /** Settles only if the account's losses of this hour stay within this amount with this one, or with the call's hold. */
  readonly lossLimitNanousd?: bigint | null;
  /** A loss that the account's caller caused; it counts towards the account's losses of this hour. */
  readonly accountLossNanousd?: bigint | null;
  /** Ends the attempt of the job that the hold started. */
  readonly job?: JobEnd;
}

/** The ending of a call that costs nothing. */
export type Release = Pick<Settlement, 'ended' | 'httpStatus'> &
  Partial<Pick<Settlement, 'host' | 'attempts' | 'lossNanousd' | 'lossReason'>>;

export interface Balance {
  readonly account: Account;
  /** Null without a key. */
  readonly keyWindow: KeyWindow | null;
  /** The role of the person, with the person's spending; null if there is no person, or they have no role. */
  readonly member: Member | null;
}
