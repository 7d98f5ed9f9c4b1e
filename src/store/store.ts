import type { VoidReason } from '../canonical/loss-reasons.ts';
import type { Receipt, Settlement, ValuesOf } from '../canonical/receipt.ts';
import type { CacheSize } from '../kit/caches.ts';
import type { AccountReceiptFilter, ReceiptPage, ReceiptSlice } from './account-receipts.ts';
import type { Account, ChangedKey, KeyChange, KeyCreation, KeyRow, NewAccount, NewKey } from './account-rows.ts';
import type { FeedReads } from './call-feed.ts';
import type { KeyWindow } from './cap-window.ts';
import type { Directory } from './directory.ts';
import type { EntryReads } from './entries.ts';
import type { HoldRefusal, IdempotencyMark } from './hold-terms.ts';
import type { JobEnd, JobOutcome, JobStart, JobStore, ReleaseOperation, ReserveOperation } from './jobs.ts';
import type { KeyRotation } from './key-secrets.ts';
import type { KeyUses } from './key-uses.ts';
import type {
  CREDIT_FIELDS,
  GivenValues,
  HeldCall,
  HOLD_TERMS,
  SETTLE_TERMS,
  VOID_FIELDS,
} from './operation-fields.ts';
import type { AuditRow } from './people.ts';
import type { NewProviderKey, ProviderKeyPut, ProviderKeyRow, ProviderKeyUse } from './provider-key-rows.ts';
import type { ReceiptArchive } from './receipt-archive.ts';
import type { ReceiptProofs } from './signing.ts';
import type { UsageStore } from './usage-store.ts';
import type { VerifyProgress, VerifyReport } from './verify-report.ts';

export type { AccountReceiptFilter, ReceiptPage, ReceiptSlice } from './account-receipts.ts';
export {
  type Account,
  type AccountKind,
  type AccountStatus,
  type ChangedKey,
  KEY_PERMISSIONS,
  type KeyChange,
  type KeyCreation,
  type KeyPermission,
  type KeyRow,
  type NewAccount,
  type NewKey,
  ON_UNSUPPORTED,
  type OnUnsupported,
  type OwnerTerms,
} from './account-rows.ts';
export type { CallOwner, FeedReads } from './call-feed.ts';
export { CAP_WINDOWS, type CapWindow, type KeyWindow } from './cap-window.ts';
export type { HoldRefusal, IdempotencyMark } from './hold-terms.ts';
export type { NewProviderKey, ProviderKeyPut, ProviderKeyRow, ProviderKeyUse } from './provider-key-rows.ts';
export type { VerifyProgress, VerifyReport } from './verify-report.ts';

/**
 * The store's interface, which each engine implements. No transaction handle leaves an engine. Money moves only through
 * `apply`, in batches, and each operation has its own outcome. Callers create the ids, which are integers ordered by
 * time.
 */
export interface Store extends KeyRotation, KeyUses, EntryReads {
  /** People, roles, sessions, management keys and the audit. */
  readonly directory: Directory;
  readonly callFeed: FeedReads;
  readonly usage: UsageStore;
  readonly jobs: JobStore;
  readonly archive: ReceiptArchive;
  readonly proofs: ReceiptProofs;

  /**
   * Applies the operations in order, in one commit, which is on disk when this resolves. A refusal is an outcome, never
   * an exception. If one operation cannot be written, the others may take several commits; if the store becomes
   * unavailable between two of them, this throws `PartlyApplied`.
   */
  apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]>;

  /**
   * Registers this process under a new epoch and voids the open holds of its earlier epochs, at no cost to the callers.
   * With a shared store, other live processes keep their holds.
   */
  beginInstance(): Promise<Instance>;
  /**
   * Renews the registration. Null if other processes declared this one dead, another one replaced it, or the store was
   * put back to an older state: its holds are void, and it must register again.
   */
  heartbeat(epoch: bigint): Promise<Beat | null>;
  /** Declares instances dead that were silent for `LIMITS.instanceDeadMs`, and voids their open holds. */
  reap(): Promise<Reaping>;
  /**
   * Reports how many requests of each key this process admitted since the last report, and returns those of other
   * processes, so that each can enforce a rate limit that applies to all of them together.
   */
  shareRequests(taken: ReadonlyMap<bigint, number>): Promise<ReadonlyMap<bigint, number>>;
  /** What the store caches in memory. Of a store that threads share, each of them gets the sizes of the whole store. */
  cacheSizes(): Promise<readonly CacheSize[]>;
  /** Stores a price list under its version, permanently, and returns the number that holds refer to it by. */
  registerPrices(version: string, pricesJson: string): Promise<number>;

  /** Like the other changes below, writes the row of the audit in the same commit; there is none for a local account. */
  createAccount(account: NewAccount, audit?: AuditRow): Promise<'created' | 'name_taken'>;
  findAccount(idOrName: bigint | string): Promise<Account | null>;
  listAccounts(page: Page): Promise<Account[]>;

  /** `no_member`: the key's person is not an owner or member of the account, or is disabled. */
  createKey(key: NewKey, audit?: AuditRow): Promise<KeyCreation>;
  /** `version_conflict`: somebody changed the key since the expected version was read. */
  updateKey(id: bigint, change: KeyChange, audit?: AuditRow, expectedVersion?: bigint | null): Promise<ChangedKey>;
  findKeyByHash(sha256Hex: string): Promise<KeyRow | null>;
  findKey(id: bigint): Promise<KeyRow | null>;
  listKeys(accountId: bigint | null, page: Page): Promise<KeyRow[]>;
  /**
   * Keys changed after that version, oldest change first, for caches that poll: at most `LIMITS.storePageRowsMax`, so a
   * full page calls for another request at once. Null, for an empty cache, returns the current version and no keys.
   */
  keysChangedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }>;
  /** The key's spent and held amounts in its current window, by the store's clock. */
  keyWindow(keyId: bigint): Promise<KeyWindow | null>;

  /**
   * Replaces the account's key for that provider, including its id, which the encryption is bound to. Only the first
   * key's creation time stays. With `replaces`, only if the account's key is still the one with this id.
   */
  putProviderKey(row: NewProviderKey, audit?: AuditRow, replaces?: bigint): Promise<ProviderKeyPut>;
  /** Does nothing if the row was replaced or deleted meanwhile. */
  noteProviderKeyUse(id: bigint, use: ProviderKeyUse): Promise<void>;
  findProviderKey(accountId: bigint, provider: string): Promise<ProviderKeyRow | null>;
  /** Ordered by provider, at most `LIMITS.storePageRowsMax`. */
  listProviderKeys(accountId: bigint): Promise<ProviderKeyRow[]>;
  deleteProviderKey(accountId: bigint, provider: string, audit?: AuditRow): Promise<boolean>;
  /** The keys of all accounts, ordered by id, for re-encrypting every row. */
  providerKeysAfter(id: bigint | null, limit: number): Promise<ProviderKeyRow[]>;
  /** False, without a change, if the row is gone or was encrypted again meanwhile. */
  resealProviderKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean>;

  /** Finds only receipts of this account; null, for the operator, finds any. Also looks in the folder of the archive. */
  findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null>;
  listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]>;
  /** One account's receipts, newest first. Uses an index, so the size of the ledger does not matter. */
  listAccountReceipts(filter: AccountReceiptFilter, page: ReceiptPage): Promise<ReceiptSlice>;

  /**
   * Recomputes balances, sums and the hash trees of closed months from the rows, slice by slice, without blocking the
   * writer. Months before `sinceMonthMs` are not recomputed, and the usage sums are not compared if `usage` is false.
   */
  verify(
    progress?: (done: VerifyProgress) => void,
    sinceMonthMs?: number | null,
    usage?: boolean,
  ): Promise<VerifyReport>;
  /** Losses that an operator has accepted, the oldest first, at most `LIMITS.storePageRowsMax`. */
  acceptedLosses(): Promise<AcceptedLoss[]>;
  /**
   * Adds calls to the sums and the hash tree of their account's month, by ascending id up to the first one that is open
   * or younger than an hour; then deletes closed receipts, from the oldest up to the first that was created at the given
   * time or later. No hold may have an id in the closed part.
   */
  closeBooks(forgetBeforeMs: number | null): Promise<{ closed: number; forgotten: number }>;

  /** Deletes expired idempotency keys and their stored responses, slice by slice, and returns how many. */
  sweepIdempotencyKeys(): Promise<number>;
  /** Deletes spending windows that began long ago and in which nothing counts any more, slice by slice, and returns how many. */
  sweepWindows(): Promise<number>;

  /** A cheap check that the store answers and can be written to, disk space included. */
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

/** Why a hold of an earlier start of the process was voided. */
export const DIED_REASON: VoidReason = 'process_died';

/** The store cannot be reached or can no longer be trusted, so operations on money are refused. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The files of the store were deleted or replaced while it was open. Do not restart: that would create an empty store. */
export class StoreVanished extends StoreUnavailable {}

/**
 * The store became unavailable after part of a batch was on disk. Each operation has its outcome, or the reason why it
 * has none.
 */
export class PartlyApplied extends StoreUnavailable {
  readonly places: readonly (LedgerOutcome | StoreUnavailable)[];

  constructor(places: readonly (LedgerOutcome | StoreUnavailable)[], cause: StoreUnavailable) {
    super(cause.message, { cause });
    this.places = places;
  }
}

/** This program must not use that store, for a reason of one sentence. Retrying does not help. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

/** The store's address is wrong: retrying does not help. The message does not contain the URL. */
export class StoreMisnamed extends Error {
  override readonly name = 'StoreMisnamed';
}

export interface Instance {
  /** 0 to 1023, part of every id that this process creates; no two running processes have the same. */
  readonly number: number;
  readonly epoch: bigint;
  /** The highest id of any call, deleted ones included; 0 if there was none. New ids must be above it. */
  readonly lastCallId: bigint;
  /**
   * Open holds of earlier starts that were voided. Holds that cannot be voided in time do not prevent the start.
   */
  readonly voidedHolds: number;
  /**
   * If the store was put back to an older state: why the previous registration of this process ended, in one sentence.
   * Nothing that was read from the store before is valid then. Otherwise null.
   */
  readonly replaced: string | null;
}

export interface Beat {
  /** The highest id of any call. New ids must be above it: the ledger may soon be closed up to there. */
  readonly lastCallId: bigint;
}

export interface Reaping {
  /** How many open holds of dead instances were voided. */
  readonly voided: number;
  /** Why others cannot be voided, in one sentence; they are retried each time. */
  readonly stuck: string | null;
}

export type LedgerOperation =
  | HoldOperation
  | SettleOperation
  | VoidOperation
  | CreditOperation
  | ReserveOperation
  | ReleaseOperation;

export interface HoldOperation extends HeldCall, GivenValues<typeof HOLD_TERMS> {
  readonly kind: 'hold';
  readonly idempotency: IdempotencyMark | null;
  /** Starts this job: the amount comes from its reservation. */
  readonly job?: JobStart;
}

export interface SettleOperation extends GivenValues<typeof SETTLE_TERMS> {
  readonly kind: 'settle';
  readonly settlement: Settlement;
  /** The encrypted response to replay under the hold's idempotency key; null stores only that the call finished. */
  readonly kept: Uint8Array | null;
  /** Ends the attempt of the job that the hold started, in the same commit. */
  readonly job?: JobEnd;
}

/** Ends a hold at no cost because its process died. */
export interface VoidOperation extends ValuesOf<typeof VOID_FIELDS> {
  readonly kind: 'void';
}

/**
 * Money added (positive) or removed (negative, at most what is available). The reference makes retries safe. A refund
 * names a settled call of the account; the refunds of a call never exceed its cost.
 */
export interface CreditOperation extends GivenValues<typeof CREDIT_FIELDS> {
  readonly kind: 'credit';
  /** Written in the same commit, unless the credit is refused or a repetition. */
  readonly audit?: AuditRow;
}

/** In the order of the checks; a voided or settled hold has its own outcome before `exceeds_hold`. */
export type SettleRefusal = 'negative' | 'components_wrong' | 'no_hold' | 'exceeds_hold' | 'loss_allowance';

/** In the order of the checks; a known reference has its own outcome after `no_account`. */
export type CreditRefusal =
  | 'zero'
  | 'out_of_range'
  | 'no_account'
  | 'reference_differs'
  | 'account_closed'
  | RefundRefusal
  | 'exceeds_available';

/** `no_receipt`: there is no such call of the account. */
export type RefundRefusal = 'negative_refund' | 'no_receipt' | 'not_settled' | 'exceeds_cost';

export type LedgerOutcome =
  | JobOutcome
  /** `lostNanousd`: the account's losses of this hour, if there are any. */
  | { readonly kind: 'held'; readonly lostNanousd?: bigint }
  /** `availableNanousd` is what the failed check would have allowed; null if that is not an amount. */
  | { readonly kind: 'hold_refused'; readonly reason: HoldRefusal; readonly availableNanousd: bigint | null }
  /** Another call, `callId`, has the hold's idempotency key. Nothing was held. */
  | {
      readonly kind: 'idempotent';
      readonly state: IdempotencyState | 'mismatch';
      readonly callId: bigint;
      readonly kept: Uint8Array | null;
    }
  | { readonly kind: 'settled' }
  /** The hold had been voided, so nothing is charged. */
  | { readonly kind: 'settle_found_void' }
  /** Already settled; the first settlement stands. */
  | { readonly kind: 'settle_repeated'; readonly costNanousd: bigint }
  | { readonly kind: 'settle_refused'; readonly reason: SettleRefusal }
  | { readonly kind: 'voided' }
  | { readonly kind: 'void_not_open' }
  | { readonly kind: 'credited'; readonly balanceNanousd: bigint }
  | { readonly kind: 'credit_repeated'; readonly balanceNanousd: bigint }
  | {
      readonly kind: 'credit_refused';
      readonly reason: CreditRefusal;
    }
  /** The operation broke an internal rule, such as using an id twice. Other operations are not affected. */
  | { readonly kind: 'operation_failed'; readonly message: string };

/**
 * State of the call that has the key: running; finished, that is charged or answered; or voided, so that its outcome is
 * unknown.
 */
export type IdempotencyState = 'running' | 'finished' | 'unknown';

export interface Page {
  readonly limit: number;
  /** Return rows after this id, in the order of the listing. */
  readonly after: bigint | null;
}

/** Newest first. */
export interface ReceiptFilter {
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  readonly sinceMs: number | null;
}

/** Receipts that were lost with a damaged file and that the ledger continues without. */
export interface AcceptedLoss {
  readonly acceptedMs: number;
  readonly receipts: bigint;
  readonly spentNanousd: bigint;
}

export interface StoreHealth {
  readonly ok: boolean;
  readonly reason: string | null;
  /** False if admission must stop while settling may continue, as on a nearly full disk. */
  readonly mayAdmit: boolean;
}
