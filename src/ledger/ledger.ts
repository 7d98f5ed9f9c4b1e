import { NOTHING_SETTLED, type Receipt, type Settlement } from '../canonical/receipt.ts';
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
  PartlyApplied,
  type ReceiptFilter,
  type SettleOperation,
  type Store,
  StoreUnavailable,
  type VerifyProgress,
  type VerifyReport,
} from '../store/store.ts';
import type { LedgerInstance } from './heartbeat.ts';

export type { HoldRefusal, VerifyProgress, VerifyReport } from '../store/store.ts';
export { StoreRefused, StoreUnavailable } from '../store/store.ts';

export type HoldRequest = Omit<HoldOperation, 'kind' | 'epoch' | 'createdMs'>;
export type HoldResult = Extract<LedgerOutcome, { kind: 'held' | 'hold_refused' | 'idempotent' }>;
export type Repeat = Extract<LedgerOutcome, { kind: 'idempotent' }>;
export type CreditResult = Extract<LedgerOutcome, { kind: 'credited' | 'credit_repeated' | 'credit_refused' }>;

/** `settlement` is what stands in the books: the one asked for, or none at all where the hold had been voided. */
export interface SettleResult {
  readonly kind: 'settled' | 'found_void';
  readonly settlement: Settlement;
}

export interface SettleTerms {
  /** The sealed answer to give again under the hold's idempotency key. */
  readonly kept?: Uint8Array | null;
  /** The monotonic time up to which a store that is away is asked again; without it, a settlement fails at once. */
  readonly waitUntilMs?: number;
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
  /** Of this process, for as long as it runs. */
  readonly epoch: bigint;
  /** Where several processes share the store, this one's life decides its epoch, and whether it may admit. */
  readonly instance?: LedgerInstance;
  /** Commits under way at once. */
  readonly batchesInFlight?: number;
}

/**
 * The money's one door. Operations gather while the last commit runs and share the next one; settlements go first.
 * It fails closed: who cannot be told "held" for certain is told StoreUnavailable.
 */
export class Ledger {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #instance: LedgerInstance;
  readonly #batcher: Batcher<LedgerOperation, LedgerOutcome>;
  readonly #openHolds = new Map<bigint, bigint>();
  /** Holds whose settlement failed: they are given back as soon as the store takes it. */
  readonly #abandoned = new Set<bigint>();
  readonly #waiting = new Set<() => void>();
  #isHurried = false;
  #notAdmitting: string | null = null;
  #healthTimer: Timer | null = null;

  constructor({ store, clock, epoch, instance, batchesInFlight = LIMITS.ledgerBatchesInFlightMax }: LedgerOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#instance = instance ?? { epoch, whyNotAdmitting: null };
    this.#batcher = new Batcher<LedgerOperation, LedgerOutcome>({
      run: (operations) => store.apply(operations).catch(placesOf),
      batchMax: LIMITS.ledgerBatchMax,
      inFlightMax: batchesInFlight,
      queueMax: LIMITS.ledgerQueueMax,
      urgent: (operation) => operation.kind !== 'hold',
      failure: (cause) => new StoreUnavailable('The ledger cannot be written.', { cause }),
    });
  }

  /** Operations that wait for a commit. */
  get depth(): number {
    return this.#batcher.depth;
  }

  /** Holds of this process that are neither settled nor released. */
  get openHolds(): number {
    return this.#openHolds.size + this.#abandoned.size;
  }

  /** Durable when it resolves; refused holds leave no trace. */
  async hold(request: HoldRequest): Promise<HoldResult> {
    const { epoch } = this.#instance;
    if (this.whyNotAdmitting !== null) throw new StoreUnavailable(this.whyNotAdmitting);
    if (this.depth >= LIMITS.ledgerHoldQueueMax) throw new StoreUnavailable('Too many calls wait for the ledger.');
    if (!isAmount(request.amountNanousd)) return OUT_OF_RANGE;
    const createdMs = this.#clock.nowMs();
    const outcome = await this.#batcher.submit({ ...request, kind: 'hold', epoch, createdMs });
    if (outcome.kind === 'hold_refused' || outcome.kind === 'idempotent') return outcome;
    if (outcome.kind !== 'held') throw defect(request.id, outcome);
    this.#openHolds.set(request.id, request.amountNanousd);
    this.#refuseIfTakenForDead(request.id, epoch);
    return outcome;
  }

  /** Why new calls are refused now, in one sentence; null while they are not. */
  get whyNotAdmitting(): string | null {
    return this.#instance.whyNotAdmitting ?? this.#notAdmitting;
  }

  /** A hold that was long under way may have been voided by others since: no host is called on it. */
  #refuseIfTakenForDead(id: bigint, epoch: bigint): void {
    const why =
      this.#instance.whyNotAdmitting ?? (epoch === this.#instance.epoch ? null : 'This process was taken for dead.');
    if (why === null) return;
    this.#abandon(id);
    throw new StoreUnavailable(why);
  }

  /** The call whose the idempotency key is; null while it is free. Asked by a hold that no money can pass. */
  async findRepeat(request: Pick<HoldRequest, 'id' | 'accountId' | 'keyId' | 'idempotency'>): Promise<Repeat | null> {
    const outcome = await this.#batcher.submit({
      ...IMPASSABLE,
      ...request,
      epoch: this.#instance.epoch,
      createdMs: this.#clock.nowMs(),
    });
    return outcome.kind === 'idempotent' ? outcome : null;
  }

  /**
   * Ends a hold of this process, once; durable when it resolves. A store that is away is waited for, and what it did not
   * say is asked again, never guessed. Who fails for good has charged nothing: the hold is given back.
   */
  async settle(
    id: bigint,
    settlement: Settlement,
    { kept = null, waitUntilMs = 0 }: SettleTerms = {},
  ): Promise<SettleResult> {
    const operation = { kind: 'settle', id, endedMs: this.#clock.nowMs(), settlement, kept } as const;
    try {
      this.#assertWithinHold(id, settlement.costNanousd);
      let outcome: LedgerOutcome;
      try {
        outcome = await this.#batcher.submit(operation);
      } catch (error) {
        outcome = await this.#ask(operation, waitUntilMs, error);
      }
      if (outcome.kind !== 'settled' && outcome.kind !== 'settle_found_void') throw defect(id, outcome);
      this.#openHolds.delete(id);
      if (outcome.kind === 'settled') return { kind: 'settled', settlement };
      return { kind: 'found_void', settlement: uncharged(settlement) };
    } catch (error) {
      this.#abandon(id);
      throw error;
    }
  }

  /** Asks again until the store answers: what it had done before it went away, it now calls repeated. */
  async #ask(operation: SettleOperation, waitUntilMs: number, firstFailure: unknown): Promise<LedgerOutcome> {
    let failure = firstFailure;
    for (;;) {
      const leftMs = waitUntilMs - this.#clock.monotonicMs();
      if (this.#isHurried || leftMs <= 0) throw failure;
      await this.#pause(Math.min(leftMs, LIMITS.settleRetryMs));
      try {
        const outcome = await this.#batcher.submit(operation);
        const isOurs = outcome.kind === 'settle_repeated' && outcome.costNanousd === operation.settlement.costNanousd;
        return isOurs ? { kind: 'settled' } : outcome;
      } catch (again) {
        failure = again;
      }
    }
  }

  /** Gives the whole hold back: the call ended in a way that costs nothing. */
  release(id: bigint, release: Release): Promise<SettleResult> {
    return this.settle(id, { ...NOTHING_SETTLED, ...release });
  }

  async credit(credit: Omit<CreditOperation, 'kind'>): Promise<CreditResult> {
    const outcome = await this.#batcher.submit({ ...credit, kind: 'credit' });
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
    this.#giveBack();
    const againMs = health.mayAdmit ? LIMITS.storeHealthMs : LIMITS.storeIllnessMs;
    this.#healthTimer = this.#clock.after(againMs, () => void this.watchHealth(), { unref: true });
  }

  /** From now on nobody waits for a store that is away: the process is about to end. */
  hurry(): void {
    this.#isHurried = true;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for everything submitted; the store is closed by who opened it. */
  async close(): Promise<void> {
    this.hurry();
    this.#healthTimer?.cancel();
    await this.#batcher.close();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = this.#clock.after(ms, wake);
      this.#waiting.add(wake);
    });
  }

  #abandon(id: bigint): void {
    if (!this.#openHolds.delete(id)) return;
    this.#abandoned.add(id);
    this.#giveBack();
  }

  /** Tries now; what fails is tried again whenever the store's health is asked for, and else by the next life. */
  #giveBack(): void {
    for (const id of this.#abandoned) {
      const voided = this.#batcher.submit({ kind: 'void', id, reason: UNSETTLED_REASON });
      voided.then(
        () => this.#abandoned.delete(id),
        () => undefined,
      );
    }
  }

  #assertWithinHold(id: bigint, costNanousd: bigint): void {
    const held = this.#openHolds.get(id);
    if (held === undefined) throw new LedgerDefect(`Call ${id} has no open hold here.`);
    if (costNanousd < 0n || costNanousd > held) {
      throw new LedgerDefect(`Call ${id} costs ${costNanousd}, which is not between 0 and its hold of ${held}.`);
    }
  }
}

/** Who holds money must hear of it, though the store went away before the rest of the batch. */
function placesOf(error: unknown): PartlyApplied['places'] {
  if (error instanceof PartlyApplied) return error.places;
  throw error;
}

/** Refused for its ceiling, if it comes that far: an idempotency key is looked at before. */
const IMPASSABLE = {
  kind: 'hold',
  amountNanousd: 0n,
  ceilingNanousd: -1n,
  route: '',
  stream: false,
  requestedModel: '',
  effectiveModel: '',
  priceId: 0,
  labels: null,
} as const;

const OUT_OF_RANGE: HoldResult = { kind: 'hold_refused', reason: 'out_of_range', availableNanousd: null };

/** Why a hold was given back though its call had ended. */
const UNSETTLED_REASON = 'The call could not be settled.';

/** What the client is told when the books had already given its hold back. */
function uncharged(settlement: Settlement): Settlement {
  const { ended, httpStatus, host, attempts, tries } = settlement;
  return { ...NOTHING_SETTLED, ended, httpStatus, host, attempts, tries, lossReason: 'The hold had been voided.' };
}

function defect(id: bigint, outcome: LedgerOutcome): LedgerDefect {
  const why = 'message' in outcome ? outcome.message : 'reason' in outcome ? outcome.reason : '';
  return new LedgerDefect(`Operation ${id}: ${outcome.kind} ${why}`.trimEnd());
}
