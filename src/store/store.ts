import type { Receipt, Settlement, ValuesOf } from '../canonical/receipt.ts';
import type { CREDIT_FIELDS, HeldCall, HOLD_TERMS, SETTLE_TERMS, VOID_FIELDS } from './operation-fields.ts';

/**
 * The store: domain verbs over one engine. No transaction handle leaves a driver; money moves only through
 * `apply`, in batches, each operation with an outcome of its own. Ids are time-ordered integers made by the caller.
 */
export interface Store {
  /**
   * Applies the operations in order, durably, all in one commit; a refusal is an outcome, never an exception. Where one
   * of them cannot be written the others may take several commits, and if the store goes away between two: `PartlyApplied`.
   */
  apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]>;

  /**
   * Starts a new life of this process: a fresh epoch, and the open holds of its earlier lives voided in their callers'
   * favour. Where several processes share the store, others that live keep their holds.
   */
  beginInstance(): Promise<Instance>;
  /**
   * Says that this life goes on; false once others have declared it dead, or another was begun in its place: its holds
   * are void, and it must begin anew.
   */
  heartbeat(epoch: bigint): Promise<boolean>;
  /** Declares dead who has been silent for `LIMITS.instanceDeadMs`, and voids their open holds. */
  reap(): Promise<Reaping>;
  /**
   * Says how many requests of each key this life has let in since it last said so, and gives what other lives have: a
   * limit that is one for all of them is kept by each with what it was told.
   */
  shareRequests(taken: ReadonlyMap<bigint, number>): Promise<ReadonlyMap<bigint, number>>;
  /** Remembers a price list for ever under its version and gives the number that holds refer to it by. */
  registerPrices(version: string, pricesJson: string): Promise<number>;

  createAccount(account: NewAccount): Promise<'created' | 'name_taken'>;
  findAccount(idOrName: bigint | string): Promise<Account | null>;
  listAccounts(page: Page): Promise<Account[]>;

  createKey(key: NewKey): Promise<'created' | 'no_account'>;
  updateKey(id: bigint, change: KeyChange): Promise<KeyRow | null>;
  findKeyByHash(sha256Hex: string): Promise<KeyRow | null>;
  findKey(id: bigint): Promise<KeyRow | null>;
  listKeys(accountId: bigint | null, page: Page): Promise<KeyRow[]>;
  /**
   * Keys changed after that version, oldest change first, for caches that poll: at most `LIMITS.storePageRowsMax`,
   * so a full answer wants another call at once. Null asks where an empty cache begins: the present version, no keys.
   */
  keysChangedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }>;
  /** What the key has spent and holds in its current window, by the store's clock. */
  keyWindow(keyId: bigint): Promise<KeyWindow | null>;

  /**
   * Replaces the account's row of that provider, id and all (the seal is bound to the id); only the day the first one
   * was made stays.
   */
  putProviderKey(row: ProviderKeyRow): Promise<void>;
  findProviderKey(accountId: bigint, provider: string): Promise<ProviderKeyRow | null>;
  /** By provider, at most `LIMITS.storePageRowsMax`. */
  listProviderKeys(accountId: bigint): Promise<ProviderKeyRow[]>;
  deleteProviderKey(accountId: bigint, provider: string): Promise<boolean>;
  /** Of all accounts, by id: for who must seal every row anew. */
  providerKeysAfter(id: bigint | null, limit: number): Promise<ProviderKeyRow[]>;
  /** False, and nothing done, if the row is gone or no longer sealed as it was. */
  resealProviderKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean>;

  /** An id grants nothing: the account must match, unless the operator asks (null). */
  findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null>;
  listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]>;

  /** Recomputes the identities from the rows, slice by slice, without holding up the writer. */
  verify(progress?: (done: VerifyProgress) => void): Promise<VerifyReport>;
  /**
   * Adds calls, in the order of their ids up to the first that is open or younger than an hour, to their account's
   * monthly closing entry; then forgets closed receipts created before the given time. No hold may enter closed books.
   */
  closeBooks(forgetBeforeMs: number | null): Promise<{ closed: number; forgotten: number }>;

  /** Forgets the idempotency keys whose time is over, slice by slice, with the answers kept for them; says how many. */
  sweepIdempotencyKeys(): Promise<number>;

  /** Cheap proof that the store answers and may be written to (disk space included). */
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

/** Why a hold of an earlier life of the process was given back. */
export const DIED_REASON = 'The process died before the call was settled.';

/** The store cannot be reached or may not be trusted any more; whoever asks for money gets a refusal, not a guess. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The store went away when some of a batch was durable: each operation's outcome in its place, or why it has none. */
export class PartlyApplied extends StoreUnavailable {
  readonly places: readonly (LedgerOutcome | StoreUnavailable)[];

  constructor(places: readonly (LedgerOutcome | StoreUnavailable)[], cause: StoreUnavailable) {
    super(cause.message, { cause });
    this.places = places;
  }
}

/** This program must not use that store, for a reason of one sentence; trying again changes nothing. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

/** Nothing could be reached by what the store was called, whoever tries; the URL itself is not in the words. */
export class StoreMisnamed extends Error {
  override readonly name = 'StoreMisnamed';
}

export interface Instance {
  /** 0..1023, part of every id this process makes; never the same for two lives running at once. */
  readonly number: number;
  readonly epoch: bigint;
  /** Holds of earlier lives that were found open and voided; those that cannot be, or not in time, keep no life from beginning. */
  readonly voidedHolds: number;
}

export interface Reaping {
  /** So many open holds of the dead. */
  readonly voided: number;
  /** Why others of them cannot be voided, in one sentence; they are tried again each time. */
  readonly stuck: string | null;
}

export type LedgerOperation = HoldOperation | SettleOperation | VoidOperation | CreditOperation;

export interface HoldOperation extends HeldCall, ValuesOf<typeof HOLD_TERMS> {
  readonly kind: 'hold';
  readonly idempotency: IdempotencyMark | null;
}

/**
 * A caller's promise that all requests under this key of the account are one. The first hold takes the key; from then
 * on every other hold with it is answered `idempotent`, until a settlement frees it or its time is over
 * (`store/idempotency.ts` has the rules).
 */
export interface IdempotencyMark {
  readonly key: string;
  /** SHA-256 of what must be the same for the requests to be one. */
  readonly bodySha256: Uint8Array;
}

export interface SettleOperation extends ValuesOf<typeof SETTLE_TERMS> {
  readonly kind: 'settle';
  readonly settlement: Settlement;
  /** The answer to give again under the hold's idempotency key, sealed; null keeps only the fact. */
  readonly kept: Uint8Array | null;
}

/** Gives a hold back uncharged because its owner died. */
export interface VoidOperation extends ValuesOf<typeof VOID_FIELDS> {
  readonly kind: 'void';
}

/** Money in (positive) or out (negative, never more than is available); the reference makes a retry harmless. */
export interface CreditOperation extends ValuesOf<typeof CREDIT_FIELDS> {
  readonly kind: 'credit';
}

/**
 * In the order of the checks. `out_of_range` comes first for an amount that is no amount, and last for one that would
 * carry a sum beyond 64 bits. A key is inactive when it is unknown, of another account, revoked or expired. An
 * idempotency key that is taken answers after `key_inactive`: what was paid for is given again on an empty account too.
 */
export type HoldRefusal =
  | 'out_of_range'
  | 'stale_epoch'
  | 'no_account'
  | 'key_inactive'
  | 'cost_ceiling'
  | 'key_cap'
  | 'balance';

/** In the order of the checks; a voided or settled hold answers before `exceeds_hold`. */
export type SettleRefusal = 'negative' | 'components_wrong' | 'no_hold' | 'exceeds_hold';

/** In the order of the checks; a reference seen before answers before `exceeds_available`. */
export type CreditRefusal = 'zero' | 'out_of_range' | 'no_account' | 'reference_differs' | 'exceeds_available';

export type LedgerOutcome =
  | { readonly kind: 'held' }
  /** `availableNanousd`: what the failing check would have allowed; null where that is no amount. */
  | { readonly kind: 'hold_refused'; readonly reason: HoldRefusal; readonly availableNanousd: bigint | null }
  /** The hold's idempotency key is another call's, `callId`; nothing was held. */
  | {
      readonly kind: 'idempotent';
      readonly state: IdempotencyState | 'mismatch';
      readonly callId: bigint;
      readonly kept: Uint8Array | null;
    }
  | { readonly kind: 'settled' }
  /** The hold had been voided meanwhile: nothing is charged. */
  | { readonly kind: 'settle_found_void' }
  /** Settled before: the first settlement stands. */
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
  /** The operation broke a rule that no caller may break (an id used twice, say); its neighbours were not touched. */
  | { readonly kind: 'operation_failed'; readonly message: string };

/** Of the call that has the key: under way; ended, and charged or answered; voided, so that nobody knows its answer. */
export type IdempotencyState = 'running' | 'finished' | 'unknown';

export type AccountKind = 'prepaid' | 'unlimited';

export interface NewAccount {
  readonly id: bigint;
  readonly name: string;
  readonly kind: AccountKind;
  readonly createdMs: number;
}

export interface Account extends NewAccount {
  readonly balanceNanousd: bigint;
  readonly heldNanousd: bigint;
  /** Sum of everything ever charged. */
  readonly spentNanousd: bigint;
}

export const CAP_WINDOWS = ['lifetime', 'day', 'week', 'month'] as const;
export type CapWindow = (typeof CAP_WINDOWS)[number];

export interface NewKey {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly name: string;
  readonly sha256Hex: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly capNanousd: bigint | null;
  readonly capWindow: CapWindow;
  readonly expiresMs: number | null;
  /** Model ids the key may use; null is all of them. */
  readonly models: readonly string[] | null;
  readonly createdMs: number;
}

export interface KeyRow extends NewKey {
  readonly revokedMs: number | null;
  readonly version: bigint;
}

/** Absent members stay as they are; a new cap window starts counting afresh in its own row. */
export interface KeyChange {
  readonly name?: string;
  readonly capNanousd?: bigint | null;
  readonly capWindow?: CapWindow;
  readonly expiresMs?: number | null;
  readonly models?: readonly string[] | null;
  readonly revokedMs?: number;
}

/** A provider's key that its owner gave into custody; one per account and provider. */
export interface ProviderKeyRow {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly provider: string;
  readonly baseUrl: string;
  readonly lastFour: string;
  readonly sealed: Uint8Array;
  readonly createdMs: number;
  readonly verifiedMs: number;
}

export interface KeyWindow {
  readonly window: CapWindow;
  readonly startMs: number;
  /** Null for a lifetime window. */
  readonly resetsMs: number | null;
  readonly spentNanousd: bigint;
  readonly heldNanousd: bigint;
}

export interface Page {
  readonly limit: number;
  /** Rows after this id in the listing's order. */
  readonly after: bigint | null;
}

/** Newest first. */
export interface ReceiptFilter {
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  readonly sinceMs: number | null;
}

export interface VerifyProgress {
  readonly rowsRead: number;
  readonly rowsTotal: number;
}

export interface VerifyReport {
  readonly accounts: number;
  readonly keys: number;
  readonly receipts: number;
  readonly credits: number;
  readonly openHolds: number;
  readonly lossNanousd: bigint;
  /** One sentence per violated identity, naming the row; empty means the books are exact. */
  readonly violations: readonly string[];
}

export interface StoreHealth {
  readonly ok: boolean;
  readonly reason: string | null;
  /** False when admission must stop though settling may go on (disk nearly full). */
  readonly mayAdmit: boolean;
}
