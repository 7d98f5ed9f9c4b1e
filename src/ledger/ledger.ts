import type { Receipt, Settlement } from '../canonical/receipt.ts';
import { Batcher } from '../kit/batcher.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { isAmount } from '../store/int64.ts';
import {
  type Account,
  type CreditOperation,
  type HoldOperation,
  type KeyWindow,
  type LedgerOperation,
  type LedgerOutcome,
  type Page,
  type ReceiptFilter,
  type Store,
  StoreUnavailable,
  type VerifyProgress,
  type VerifyReport,
} from '../store/store.ts';

export type { HoldRefusal, VerifyProgress, VerifyReport } from '../store/store.ts';
export { StoreUnavailable } from '../store/store.ts';

export type HoldRequest = Omit<HoldOperation, 'kind' | 'epoch' | 'createdMs'>;
export type HoldResult = Extract<LedgerOutcome, { kind: 'held' | 'hold_refused' | 'idempotent' }>;
export type CreditResult = Extract<LedgerOutcome, { kind: 'credited' | 'credit_repeated' | 'credit_refused' }>;

/** `settlement` is what stands in the books: the one asked for, or none at all where the hold had been voided. */
export interface SettleResult {
  readonly kind: 'settled' | 'found_void';
  readonly settlement: Settlement;
}

/** How a call ended that costs nothing. */
export type Release = Pick<Settlement, 'ended' | 'httpStatus'> &
  Partial<Pick<Settlement, 'host' | 'attempts' | 'lossNanousd' | 'lossReason'>>;

export interface Balance {
  readonly account: Account;
  /** Null without a key. */
  readonly keyWindow: KeyWindow | null;
}

/** A rule of the books was about to be broken; never the caller's fault. */
export class LedgerDefect extends Error {
  override readonly name = 'LedgerDefect';
}

export interface LedgerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly epoch: bigint;
}

/**
 * The money's one door. Operations gather while the last commit runs and share the next one; settlements go first.
 * It fails closed: who cannot be told "held" for certain is told StoreUnavailable.
 */
export class Ledger {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #epoch: bigint;
  readonly #batcher: Batcher<LedgerOperation, LedgerOutcome>;
  readonly #openHolds = new Map<bigint, bigint>();
  #notAdmitting: string | null = null;
  #healthTimer: Timer | null = null;

  constructor({ store, clock, epoch }: LedgerOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#epoch = epoch;
    this.#batcher = new Batcher({
      run: (operations) => store.apply(operations),
      batchMax: LIMITS.ledgerBatchMax,
      inFlightMax: LIMITS.ledgerBatchesInFlightMax,
      queueMax: LIMITS.ledgerQueueMax,
      urgent: (operation) => operation.kind !== 'hold',
    });
  }

  /** Operations that wait for a commit. */
  get depth(): number {
    return this.#batcher.depth;
  }

  /** Holds of this process that are neither settled nor released. */
  get openHolds(): number {
    return this.#openHolds.size;
  }

  /** Durable when it resolves; refused holds leave no trace. */
  async hold(request: HoldRequest): Promise<HoldResult> {
    if (this.#notAdmitting !== null) throw new StoreUnavailable(this.#notAdmitting);
    if (this.depth >= LIMITS.ledgerHoldQueueMax) throw new StoreUnavailable('Too many calls wait for the ledger.');
    if (!isAmount(request.amountNanousd)) return OUT_OF_RANGE;
    const createdMs = this.#clock.nowMs();
    const outcome = await this.#submit({ kind: 'hold', epoch: this.#epoch, createdMs, ...request });
    if (outcome.kind === 'hold_refused' || outcome.kind === 'idempotent') return outcome;
    if (outcome.kind !== 'held') throw defect(request.id, outcome);
    this.#openHolds.set(request.id, request.amountNanousd);
    return outcome;
  }

  /** Ends a hold of this process, once; durable when it resolves. `kept` is given again under the hold's idempotency key. */
  async settle(id: bigint, settlement: Settlement, kept: Uint8Array | null = null): Promise<SettleResult> {
    this.#assertWithinHold(id, settlement.costNanousd);
    const endedMs = this.#clock.nowMs();
    const outcome = await this.#submit({ kind: 'settle', id, endedMs, settlement, kept });
    this.#openHolds.delete(id);
    if (outcome.kind === 'settled') return { kind: 'settled', settlement };
    if (outcome.kind === 'settle_found_void') return { kind: 'found_void', settlement: uncharged(settlement) };
    throw defect(id, outcome);
  }

  /** Gives the whole hold back: the call ended in a way that costs nothing. */
  release(id: bigint, release: Release): Promise<SettleResult> {
    return this.settle(id, { ...NOTHING, ...release });
  }

  async credit(credit: Omit<CreditOperation, 'kind'>): Promise<CreditResult> {
    const outcome = await this.#submit({ ...credit, kind: 'credit' });
    if (outcome.kind === 'credited' || outcome.kind === 'credit_repeated' || outcome.kind === 'credit_refused') {
      return outcome;
    }
    throw defect(credit.id, outcome);
  }

  async balance(accountId: bigint, keyId: bigint | null): Promise<Balance | null> {
    const account = await this.#store.findAccount(accountId);
    if (account === null) return null;
    return { account, keyWindow: keyId === null ? null : await this.#store.keyWindow(keyId) };
  }

  /** An id grants nothing: the account must match, unless the operator asks (null). */
  findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    return this.#store.findReceipt(id, accountId);
  }

  listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]> {
    return this.#store.listReceipts(filter, page);
  }

  verify(progress?: (done: VerifyProgress) => void): Promise<VerifyReport> {
    return this.#store.verify(progress);
  }

  /** Asks the store how it is, now and from now on: on a nearly full disk admission stops and settling does not. */
  async watchHealth(): Promise<void> {
    const health = await this.#store.health().catch((error: unknown) => ({ mayAdmit: false, reason: String(error) }));
    this.#notAdmitting = health.mayAdmit ? null : (health.reason ?? 'The store does not admit calls.');
    this.#healthTimer = this.#clock.after(LIMITS.storeHealthMs, () => void this.watchHealth(), { unref: true });
  }

  /** Waits for everything submitted; the store is closed by who opened it. */
  async close(): Promise<void> {
    this.#healthTimer?.cancel();
    await this.#batcher.close();
  }

  #submit(operation: LedgerOperation): Promise<LedgerOutcome> {
    return this.#batcher.submit(operation).catch((cause: unknown) => {
      throw new StoreUnavailable('The ledger cannot be written.', { cause });
    });
  }

  #assertWithinHold(id: bigint, costNanousd: bigint): void {
    const held = this.#openHolds.get(id);
    if (held === undefined) throw new LedgerDefect(`Call ${id} has no open hold here.`);
    if (costNanousd < 0n || costNanousd > held) {
      throw new LedgerDefect(`Call ${id} costs ${costNanousd}, which is not between 0 and its hold of ${held}.`);
    }
  }
}

const OUT_OF_RANGE: HoldResult = { kind: 'hold_refused', reason: 'out_of_range', availableNanousd: null };

const NOTHING = {
  usageSource: 'none',
  usage: null,
  components: null,
  costNanousd: 0n,
  host: null,
  attempts: 0,
  lossNanousd: 0n,
  lossReason: null,
} as const;

/** What the client is told when the books had already given its hold back. */
function uncharged(settlement: Settlement): Settlement {
  const { ended, httpStatus, host, attempts } = settlement;
  return { ...NOTHING, ended, httpStatus, host, attempts, lossReason: 'The hold had been voided.' };
}

function defect(id: bigint, outcome: LedgerOutcome): LedgerDefect {
  const why = 'message' in outcome ? outcome.message : 'reason' in outcome ? outcome.reason : '';
  return new LedgerDefect(`Operation ${id}: ${outcome.kind} ${why}`.trimEnd());
}
