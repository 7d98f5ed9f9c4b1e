import type { LossReason, VoidReason } from '../canonical/loss-reasons.ts';
import { NOTHING_SETTLED, type Receipt, type Settlement } from '../canonical/receipt.ts';
import { Batcher } from '../kit/batcher.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { IdMap } from '../kit/id-map.ts';
import { LIMITS } from '../limits.ts';
import { isAmount } from '../store/int64.ts';
import type { JobStart, ReleaseOperation } from '../store/jobs.ts';
import {
  type AccountReceiptFilter,
  type CreditOperation,
  type KeyRow,
  type LedgerOperation,
  type LedgerOutcome,
  type Page,
  PartlyApplied,
  type ReceiptFilter,
  type ReceiptPage,
  type ReceiptSlice,
  type SettleOperation,
  type Store,
  StoreUnavailable,
  type VerifyReport,
} from '../store/store.ts';
import { endUnused } from '../store/unused-hold.ts';
import { AbandonedHolds } from './abandoned-holds.ts';
import { Admission, reasonOf } from './admission.ts';
import type { LedgerInstance } from './heartbeat.ts';
import { defect, LedgerDefect, type ResultOf, resultOf } from './ledger-results.ts';
import type {
  Balance,
  CreditResult,
  HoldRequest,
  HoldResult,
  Release,
  ReleaseResult,
  Repeat,
  ReserveRequest,
  ReserveResult,
  SettleResult,
  SettleTerms,
  StartResult,
} from './ledger-terms.ts';
import { ALWAYS_REFUSED, TEST_HOLD } from './test-hold.ts';
import { type OnTrouble, TroubleReport } from './trouble-report.ts';

export type { Account, VerifyProgress, VerifyReport } from '../store/store.ts';
export { StoreRefused, StoreUnavailable } from '../store/store.ts';
export type * from './ledger-terms.ts';

interface LedgerOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** This process's epoch while it runs. */
  readonly epoch: bigint;
  /** With a shared store: this process's registration, which decides its epoch and whether it may admit calls. */
  readonly instance?: LedgerInstance;
  /** The most commits that may run at once. */
  readonly batchesInFlight?: number;
  readonly onTrouble?: OnTrouble | undefined;
}

/**
 * The only way to move money. Operations wait while the previous commit runs and share the next one; settlements go
 * first. It fails closed: without a confirmed hold the caller gets StoreUnavailable.
 */
export class Ledger {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #instance: LedgerInstance;
  readonly #batcher: Batcher<LedgerOperation, LedgerOutcome>;
  readonly #admission: Admission;
  readonly #trouble: TroubleReport;
  readonly #openHolds = new IdMap<bigint>();
  readonly #abandoned: AbandonedHolds;
  readonly #pauses = new Set<() => void>();
  #isClosing = false;
  #isClosed = false;
  #notAdmitting: string | null = null;
  #healthTimer: Timer | null = null;

  constructor(options: LedgerOptions) {
    const { store, clock, epoch, instance, batchesInFlight = LIMITS.ledgerBatchesInFlightMax, onTrouble } = options;
    this.#store = store;
    this.#clock = clock;
    this.#instance = instance ?? { epoch, whyNotAdmitting: null };
    this.#batcher = new Batcher<LedgerOperation, LedgerOutcome>({
      run: (operations) => this.#trouble.ofCommit(store.apply(operations)).catch(placesOf),
      batchMax: LIMITS.ledgerBatchMax,
      inFlightMax: batchesInFlight,
      queueMax: LIMITS.ledgerQueueMax,
      urgent: ({ kind }) => kind !== 'hold' && kind !== 'reserve',
      failure: (cause) => new StoreUnavailable('The ledger cannot be written.', { cause }),
    });
    this.#abandoned = new AbandonedHolds((id) => this.#batcher.submit({ kind: 'void', id, reason: UNSETTLED_REASON }));
    this.#admission = new Admission(clock, () => this.#testHold());
    this.#trouble = new TroubleReport(clock, onTrouble);
  }

  /** Operations that are waiting for a commit. */
  get depth(): number {
    return this.#batcher.depth;
  }

  /** Holds of this process that are neither settled nor released. */
  get openHolds(): number {
    return this.#openHolds.size + this.#abandoned.size;
  }

  /** The hold is on disk when this resolves. A refused hold leaves nothing behind. */
  hold(request: Omit<HoldRequest, 'job'>): Promise<HoldResult> {
    return isAmount(request.amountNanousd) ? this.#hold('hold', request) : Promise.resolve(OUT_OF_RANGE);
  }

  /** Turns a job's reservation into the hold of an attempt. It is on disk when this resolves. */
  start(request: HoldRequest & { readonly job: JobStart }): Promise<StartResult> {
    return this.#hold('start', request);
  }

  async #hold<Asked extends 'hold' | 'start'>(asked: Asked, request: HoldRequest): Promise<ResultOf<Asked>> {
    const { epoch } = this.#instance;
    this.#refuseUnlessAdmitting();
    const createdMs = this.#clock.nowMs();
    let outcome: LedgerOutcome;
    try {
      outcome = await this.#batcher.submit({ ...request, kind: 'hold', epoch, createdMs });
    } catch (error) {
      this.#admission.failed(reasonOf(error));
      throw error;
    }
    this.#noteDecision(outcome);
    if (outcome.kind === 'held') {
      const why = this.#whyDeclaredDead(epoch);
      if (why !== null) throw await this.#giveBack(request, why);
      this.#openHolds.set(request.id, request.amountNanousd);
    }
    return resultOf(asked, request.id, outcome);
  }

  #refuseUnlessAdmitting(): void {
    if (this.whyNotAdmitting !== null) throw new StoreUnavailable(this.whyNotAdmitting);
    if (this.depth >= LIMITS.ledgerHoldQueueMax) throw new StoreUnavailable(QUEUE_FULL);
  }

  /** Accepts a staged job or group. The reservation is on disk when this resolves. */
  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    this.#refuseUnlessAdmitting();
    return resultOf('reserve', request.id, await this.#batcher.submit({ ...request, kind: 'reserve' }));
  }

  /** Ends a job that waits, and frees its reservation. */
  async releaseJob(release: Omit<ReleaseOperation, 'kind'>): Promise<ReleaseResult> {
    return resultOf('release', release.id, await this.#batcher.submit({ ...release, kind: 'release' }));
  }

  /** Whether the store could decide the hold; a refusal for lack of money is a decision. */
  #noteDecision(outcome: LedgerOutcome): void {
    if (outcome.kind === 'operation_failed') this.#admission.failed(NOT_WRITTEN);
    else if (isStale(outcome)) this.#admission.failed(LOST_PLACE);
    else this.#admission.succeeded();
  }

  /** Why a call would not be admitted now, in one sentence, as the last holds or a test hold show; null if it would. */
  async whyNotReady(): Promise<string | null> {
    return this.whyNotAdmitting ?? (await this.#admission.whyFailing());
  }

  /** Takes the path of a hold through queue and store, and is always refused. */
  async #testHold(): Promise<void> {
    if (this.depth >= LIMITS.ledgerHoldQueueMax) throw new StoreUnavailable(QUEUE_FULL);
    const { epoch } = this.#instance;
    const outcome = await this.#batcher.submit({ ...TEST_HOLD, epoch, createdMs: this.#clock.nowMs() });
    if (isStale(outcome)) throw new StoreUnavailable(LOST_PLACE);
    if (outcome.kind !== 'hold_refused') throw defect(TEST_HOLD.id, outcome);
  }

  /** Why new calls are refused, in one sentence; null while they are admitted. */
  get whyNotAdmitting(): string | null {
    return this.#instance.whyNotAdmitting ?? this.#notAdmitting;
  }

  /** If the hold took long, other processes may have voided it meanwhile; then no host may be called. */
  #whyDeclaredDead(epoch: bigint): string | null {
    const { whyNotAdmitting } = this.#instance;
    if (whyNotAdmitting !== null || epoch === this.#instance.epoch) return whyNotAdmitting;
    return 'Other processes declared this one dead.';
  }

  /** Ends a hold that may not be used, and returns the error for its caller. */
  async #giveBack(request: HoldRequest, why: string): Promise<StoreUnavailable> {
    const ended = await this.#batcher.submit(endUnused(request, this.#clock.nowMs())).catch(() => null);
    if (ended?.kind !== 'settled' && ended?.kind !== 'settle_found_void') this.#abandoned.add(request.id);
    return new StoreUnavailable(why);
  }

  /** The call that uses the idempotency key; null if the key is free. It asks with a hold that is always refused. */
  async findRepeat(
    request: Pick<HoldRequest, 'id' | 'accountId' | 'keyId' | 'personId' | 'idempotency'>,
  ): Promise<Repeat | null> {
    const outcome = await this.#batcher.submit({
      ...ALWAYS_REFUSED,
      ...request,
      epoch: this.#instance.epoch,
      createdMs: this.#clock.nowMs(),
    });
    return outcome.kind === 'idempotent' ? outcome : null;
  }

  /**
   * Ends a hold of this process exactly once; the settlement is on disk when this resolves. An unavailable store is
   * retried until it confirms the outcome. If that fails for good, nothing is charged and the hold is voided.
   */
  async settle(
    id: bigint,
    settlement: Settlement,
    { kept = null, waitUntilMs = 0, lossLimitNanousd = null, accountLossNanousd = null, job }: SettleTerms = {},
  ): Promise<SettleResult> {
    const endedMs = this.#clock.nowMs();
    const settle = { kind: 'settle', id, endedMs, lossLimitNanousd, accountLossNanousd, settlement, kept } as const;
    const operation = job === undefined ? settle : { ...settle, job };
    try {
      this.#assertWithinHold(id, settlement.costNanousd);
      let outcome: LedgerOutcome;
      try {
        outcome = await this.#batcher.submit(operation);
      } catch (error) {
        outcome = await this.#settleAgain(operation, waitUntilMs, error);
      }
      if (isOverAllowance(outcome)) return { kind: 'over_allowance', settlement };
      if (outcome.kind !== 'settled' && outcome.kind !== 'settle_found_void') throw defect(id, outcome);
      const stored = outcome.kind === 'settled' ? settlement : uncharged(settlement, this.#openHolds.get(id) ?? 0n);
      this.#openHolds.delete(id);
      return { kind: outcome.kind === 'settled' ? 'settled' : 'found_void', settlement: stored };
    } catch (error) {
      this.#abandon(id);
      throw error;
    }
  }

  /** Retries until the store answers; `settle_repeated` means that an earlier attempt had succeeded. */
  async #settleAgain(operation: SettleOperation, waitUntilMs: number, firstFailure: unknown): Promise<LedgerOutcome> {
    let failure = firstFailure;
    for (;;) {
      const leftMs = waitUntilMs - this.#clock.monotonicMs();
      if (this.#isClosing || leftMs <= 0) throw failure;
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

  /** Ends the hold at no cost. */
  release(id: bigint, release: Release): Promise<SettleResult> {
    return this.settle(id, { ...NOTHING_SETTLED, ...release });
  }

  async credit(credit: Omit<CreditOperation, 'kind'>): Promise<CreditResult> {
    return resultOf('credit', credit.id, await this.#batcher.submit({ ...credit, kind: 'credit' }));
  }

  /** With the spending of the key and of its person, if there are any, or of another person. */
  async balance(
    accountId: bigint,
    key: Pick<KeyRow, 'id' | 'personId'> | null,
    personId: bigint | null = key?.personId ?? null,
  ): Promise<Balance | null> {
    const account = await this.#store.findAccount(accountId);
    if (account === null) return null;
    const keyWindow = key === null ? null : await this.#store.keyWindow(key.id);
    if (personId === null) return { account, keyWindow, member: null };
    const member = await this.#store.directory.findMember(accountId, personId, this.#clock.nowMs());
    return { account, keyWindow, member };
  }

  /** Finds only receipts of this account; null, for the operator, finds any. */
  findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    return this.#store.findReceipt(id, accountId);
  }

  listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]> {
    return this.#store.listReceipts(filter, page);
  }

  listAccountReceipts(filter: AccountReceiptFilter, page: ReceiptPage): Promise<ReceiptSlice> {
    return this.#store.listAccountReceipts(filter, page);
  }

  /** What was refunded of each of these calls; calls without a refund are left out. */
  refundsOf(callIds: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>> {
    return this.#store.refundsOf(callIds);
  }

  verify(...terms: Parameters<Store['verify']>): Promise<VerifyReport> {
    return this.#store.verify(...terms);
  }

  /** Checks the store's health now and periodically. On a nearly full disk admission stops while settling continues. */
  async watchHealth(): Promise<void> {
    const health = await this.#store.health().catch((error: unknown) => ({ mayAdmit: false, reason: String(error) }));
    // A store that is closed meanwhile is not in trouble.
    if (this.#isClosed) return;
    this.#notAdmitting = this.#trouble.ofHealth(health.mayAdmit ? null : (health.reason ?? 'The store refuses calls.'));
    this.#abandoned.voidAll();
    const againMs = health.mayAdmit ? LIMITS.storeHealthMs : LIMITS.storeIllnessMs;
    this.#healthTimer = this.#clock.after(againMs, () => void this.watchHealth(), { unref: true });
  }

  /** Stops all retries, because the process is about to exit. */
  stopRetrying(): void {
    this.#isClosing = true;
    for (const wake of [...this.#pauses]) wake();
  }

  /** Waits for all submitted operations. The caller closes the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.stopRetrying();
    this.#healthTimer?.cancel();
    await this.#batcher.close();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#pauses.delete(wake);
        resolve();
      };
      const timer = this.#clock.after(ms, wake);
      this.#pauses.add(wake);
    });
  }

  #abandon(id: bigint): void {
    if (this.#openHolds.delete(id)) this.#abandoned.add(id);
  }

  #assertWithinHold(id: bigint, costNanousd: bigint): void {
    const held = this.#openHolds.get(id);
    if (held === undefined) throw new LedgerDefect(`Call ${id} has no open hold in this process.`);
    if (costNanousd < 0n || costNanousd > held) {
      throw new LedgerDefect(`Call ${id}: the cost of ${costNanousd} is not between 0 and the hold of ${held}.`);
    }
  }
}

/** Operations that were committed before the store became unavailable keep their outcomes. */
function placesOf(error: unknown): PartlyApplied['places'] {
  if (error instanceof PartlyApplied) return error.places;
  throw error;
}

const NOT_WRITTEN = 'The ledger could not write the last hold.';
const QUEUE_FULL = 'Too many calls are waiting for the ledger.';
const LOST_PLACE = 'Other processes declared this one dead; it is registering again.';

function isStale(outcome: LedgerOutcome): boolean {
  const isRefused = outcome.kind === 'hold_refused' || outcome.kind === 'start_refused';
  return isRefused && outcome.reason === 'stale_epoch';
}

const OUT_OF_RANGE: HoldResult = { kind: 'hold_refused', reason: 'out_of_range', availableNanousd: null };

/** Why a hold was voided although its call had ended. */
const UNSETTLED_REASON: VoidReason = 'call_not_settled';

/** The settlement reported to the client if the hold had already been voided: all of it is a loss, as in the receipt. */
function uncharged(settlement: Settlement, heldNanousd: bigint): Settlement {
  const { ended, httpStatus, host, attempts, tries } = settlement;
  const loss = { lossNanousd: heldNanousd, lossReason: 'hold_voided' satisfies LossReason };
  return { ...NOTHING_SETTLED, ended, httpStatus, host, attempts, tries, ...loss };
}

function isOverAllowance(outcome: LedgerOutcome): boolean {
  return outcome.kind === 'settle_refused' && outcome.reason === 'loss_allowance';
}
