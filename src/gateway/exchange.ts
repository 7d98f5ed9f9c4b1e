import type { Settlement } from '../canonical/receipt.ts';
import { inputTokens, ZERO_USAGE } from '../canonical/usage.ts';
import { dropPieces } from '../kit/joined-pieces.ts';
import type { HoldRequest, HoldResult, Release, SettleResult } from '../ledger/ledger.ts';
import { costOf } from '../money/cost.ts';
import { usdNumber } from '../money/nanousd.ts';
import type { Bill } from '../wires/bill.ts';
import type { Call } from './call.ts';
import type { CallEnding, CallSettleTerms } from './call-ledger.ts';
import type { ClientSink, WholeResponse } from './client-sink.ts';
import { type ExchangeRecord, openRecord } from './exchange-record.ts';
import type { Gateway } from './gateway.ts';
import { answerAgain, answerInstead, keepResponse } from './idempotency.ts';
import { mayHaveRun, meter } from './meter.ts';
import type { Outcome } from './outcome.ts';
import { receiptLines } from './receipt-headers.ts';
import { asGatewayError, refusalOf, refuse, statusOnWire } from './refuse.ts';
import type { AttemptResult } from './relay/attempt.ts';
import { type MayCancel, noteOverrun, type Served, serve } from './serve.ts';
import { type HoldRefused, takeWorstCase } from './take-money.ts';
import { neededFactor } from './token-factors.ts';
import { type Admitted, understand } from './understand.ts';

/**
 * The life of a request: understand and admit it, hold its worst case, have a host answer it, settle the cost, and only
 * then finish the response. The hold taken here is ended here, exactly once.
 */
export async function exchange(gateway: Gateway, call: Call, sink: ClientSink): Promise<void> {
  const record = openRecord(call);
  try {
    const understood = understandOrRepeat(gateway, call, record);
    const admitted = understood instanceof Promise ? await understood : understood;
    // Counting is over, so only one copy of the body stays in memory while the call waits and runs.
    dropPieces(call.body);
    if ('body' in admitted) sendStored(admitted, record, sink);
    else await exchangeInSlot(gateway, admitted, sink);
  } catch (error) {
    refuse(call, record, sink, error);
    if (record.heldAfterMs === null) noteRefusal(gateway, call, record, error);
  }
  record.totalMs = gateway.clock.monotonicMs() - call.startedMs;
  gateway.observe(record);
}

/** A call that was never held has no receipt. */
function noteRefusal({ refusals }: Gateway, call: Call, { requestedModel }: ExchangeRecord, error: unknown): void {
  const refusal = asGatewayError(error);
  refusals.refused({ ...call, model: requestedModel, status: statusOnWire(call, refusal) }, refusal);
}

/** A request that is refused now may have been answered before under the same idempotency key. */
function understandOrRepeat(
  gateway: Gateway,
  call: Call,
  record: ExchangeRecord,
): Admitted | Promise<Admitted | WholeResponse> {
  const instead = (refusal: unknown): Promise<WholeResponse> => answerInstead(gateway, call, refusal);
  try {
    const understood = understand(gateway, call, record);
    return understood instanceof Promise ? understood.catch(instead) : understood;
  } catch (refusal) {
    return instead(refusal);
  }
}

/**
 * Takes one of the key's slots until the host has finished, and holds the worst case against ceiling, key cap and
 * balance, all or nothing. If the call was made before under the same idempotency key, sends its stored response.
 */
async function exchangeInSlot(gateway: Gateway, admitted: Admitted, sink: ClientSink): Promise<void> {
  const { call, peek, record } = admitted;
  gateway.slots.take(call.caller, peek.stream);
  if (record.trace !== null) record.trace.holdStartedMs = gateway.clock.monotonicMs();
  try {
    const hold = (request: HoldRequest): Promise<HoldResult> => {
      const result = gateway.ledger.hold(request);
      // The ledger has just read the same clock for the receipt, so the first content cannot come after the end of the call.
      record.heldSinceMs = gateway.clock.nowMs();
      return result;
    };
    const { admitted: holding, taken } = await takeWorstCase<Held>(gateway, admitted, hold);
    const held = readHoldResult(gateway, holding, taken);
    if ('body' in held) sendStored(held, record, sink);
    else await serveUnderHold(gateway, held, sink);
  } finally {
    gateway.slots.free(call.caller, peek.stream);
  }
}

type Held = Exclude<HoldResult, HoldRefused>;

/** The call, which has a hold now, or the stored response of an earlier one. A refusal by the idempotency key is thrown. */
function readHoldResult(gateway: Gateway, admitted: Admitted, result: Held): Admitted | WholeResponse {
  const { call, idempotency, record } = admitted;
  if (result.kind === 'idempotent') return answerAgain(gateway.sealer, call, idempotency!, result);
  record.heldNanousd = heldFor(admitted);
  record.heldAfterMs = gateway.clock.monotonicMs() - call.startedMs;
  const { hangupAllowanceNanousd: allowance } = gateway.limits;
  if (allowance === null || result.lostNanousd === undefined) return admitted;
  return { ...admitted, hangupsCharged: result.lostNanousd + heldFor(admitted) > allowance };
}

/** A deferred call has what was reserved when it was accepted; its prompt may have been counted differently then. */
function heldFor({ call, admission }: Admitted): bigint {
  return call.deferred?.reservedNanousd ?? admission.worstNanousd;
}

function sendStored({ status, lines, body }: WholeResponse, record: ExchangeRecord, sink: ClientSink): void {
  record.status = status;
  record.ended = 'replayed';
  if (sink.gone) return;
  sink.head(status, lines, body.length);
  sink.end(body);
}

/** From here on there is a hold. Whatever happens, it is settled or released below. */
async function serveUnderHold(gateway: Gateway, admitted: Admitted, sink: ClientSink): Promise<void> {
  const { call, record } = admitted;
  const hangup = new Hangup(gateway, admitted);
  let served: Served | null = null;
  let settlement: Settlement | null = null;
  let terms: CallSettleTerms;
  try {
    served = await serve(gateway, admitted, sink, hangup.mayCancel);
    settlement = settlementFor(admitted, served);
    terms = settleTerms(gateway, admitted, served, settlement);
  } catch (error) {
    // If the client had left, the hold may have ended already.
    if (hangup.settled !== null) throw error;
    const lost = settlement === null ? null : uncharged(settlement);
    Object.assign(record, lost);
    await gateway.ledger.release(call.id, { ended: 'failed', httpStatus: 500, ...lost });
    throw error;
  }
  record.answeredAfterMs = gateway.clock.monotonicMs() - call.startedMs;
  let settled: Settlement;
  try {
    settled = (await (hangup.settled ?? gateway.ledger.settle(call.id, settlement, terms))).settlement;
  } catch (error) {
    refuse(call, record, sink, error, null);
    return;
  } finally {
    record.settledAfterMs = gateway.clock.monotonicMs() - call.startedMs;
  }
  noteSettlement(record, served, settled);
  if (settlement.lossReason === 'host_reported_more_than_bound') noteOverrun(gateway, admitted, served);
  if (settlement.lossReason === 'prompt_exceeded_count') noteShortCount(gateway, admitted, settlement);
  finishResponse(admitted, served, settled, sink);
}

/** A defect of ours keeps the caller from getting the answer, and so from paying for it. The host bills it nevertheless. */
function uncharged({
  host,
  attempts,
  costNanousd,
  lossNanousd,
  lossReason,
}: Settlement): Omit<Release, 'ended' | 'httpStatus'> {
  const reason = lossReason ?? (costNanousd > 0n ? 'host_may_bill_uncharged_work' : null);
  return { host, attempts, lossNanousd: lossNanousd + costNanousd, lossReason: reason };
}

/**
 * Settles a call whose client has left before its host is cancelled, if the account's loss allowance covers what the host
 * may bill beyond the charge. The ledger decides that when it settles, so calls that end at the same time cannot exceed the
 * allowance together.
 */
class Hangup {
  /** The settlement, if the call ended that way. */
  settled: Promise<SettleResult> | null = null;
  /** Null if the host may always be cancelled. */
  readonly mayCancel: MayCancel | null;

  constructor(gateway: Gateway, admitted: Admitted) {
    const { hangupAllowanceNanousd: limitNanousd } = gateway.limits;
    const isUnlimited = limitNanousd === null || heldFor(admitted) === 0n;
    this.mayCancel = isUnlimited ? null : (served) => this.#settle(gateway, admitted, served, limitNanousd);
  }

  async #settle(gateway: Gateway, admitted: Admitted, served: Served, limitNanousd: bigint): Promise<boolean> {
    const settlement = settlementFor(admitted, served);
    const accountLossNanousd = lossByHangup(admitted, served);
    const lossLimitNanousd = accountLossNanousd === 0n ? null : limitNanousd;
    const terms = { waitUntilMs: waitUntilMs(gateway, admitted), lossLimitNanousd, accountLossNanousd };
    this.settled = gateway.ledger.settle(admitted.call.id, settlement, terms);
    // If it fails, the call is over too: its owner gets the same error when it awaits the settlement.
    const { kind } = await this.settled.catch(() => ({ kind: 'settled' }) as const);
    if (kind === 'over_allowance') this.settled = null;
    return kind !== 'over_allowance';
  }
}

/** What hanging up may cost the operator: the hold less the charge, without what earlier hosts may bill. */
function lossByHangup(admitted: Admitted, served: Outcome): bigint {
  const alone = { ...served, billableTries: 0, repeats: 0 };
  return settlementFor(admitted, alone, heldFor(admitted)).lossNanousd;
}

/** The bound is the most that a host can bill: more than the hold if the prompt was counted. */
function settlementFor(
  admitted: Admitted,
  served: Outcome,
  boundNanousd = (admitted.admission.counted?.byBytes ?? admitted.admission).worstNanousd,
): Settlement {
  const { admission, peek } = admitted;
  return meter({
    outcome: withStatusSent(admitted, served),
    stream: peek.stream,
    price: admission.model.price,
    heldNanousd: heldFor(admitted),
    boundNanousd,
    inputBound: admission.inputBound,
    outputBound: admission.outputBound,
    inputEstimateTokens: admission.inputEstimateTokens,
  });
}

/** The receipt has the status that the caller was sent, which is another one on one wire. */
function withStatusSent({ call }: Admitted, served: Outcome): Outcome {
  const { error, httpStatus } = served;
  if (error === null || httpStatus !== error.status) return served;
  const sent = statusOnWire(call, error);
  return sent === httpStatus ? served : { ...served, httpStatus: sent };
}

function settleTerms(gateway: Gateway, admitted: Admitted, served: Served, settlement: Settlement): CallSettleTerms {
  const { call, idempotency } = admitted;
  const terms = {
    waitUntilMs: waitUntilMs(gateway, admitted),
    accountLossNanousd: overrunNanousd(admitted, settlement),
  };
  if (call.deferred != null) return { ...terms, ending: endingOf(admitted, served, settlement) };
  if (idempotency === null || served.whole === undefined) return terms;
  const answer = served.whole(billOf(settlement), receiptLines(settlement));
  return { ...terms, kept: keepResponse(gateway, call, idempotency, answer) };
}

/** What a deferred call would send: it has no client, and its answer is stored with the settlement. */
function endingOf({ call, record }: Admitted, served: Served, settlement: Settlement): CallEnding {
  const { error, whole, retryable } = served;
  const hasRun = mayHaveRun(served);
  const ran = { mayHaveRun: hasRun, brokeOff: hasRun && error !== null && !retryable };
  if (error !== null) return { ...ran, error, answer: refusalOf(call, record, error, settlement) };
  return { ...ran, error, answer: whole?.(billOf(settlement), receiptLines(settlement)) ?? null };
}

/** What the prompt cost beyond the hold, because its count fell short; null if it did not. */
function overrunNanousd(admitted: Admitted, { lossReason, usage }: Settlement): bigint | null {
  if (lossReason !== 'prompt_exceeded_count' || usage === null) return null;
  return costOf(admitted.admission.model.price, usage).costNanousd - heldFor(admitted);
}

/** Remembers which factor would have covered the prompt; it is raised once enough accounts have needed it. */
function noteShortCount({ tokenFactors }: Gateway, { call, admission }: Admitted, { usage }: Settlement): void {
  if (admission.counted === null || usage === null) return;
  const factor = neededFactor(admission.counted.prompt, admission.inputBound, inputTokens(usage));
  tokenFactors.noteOverrun(admission.model, call.caller.accountId, factor);
}

/** An unreachable store is retried for as long as the call itself may take. */
function waitUntilMs({ limits }: Gateway, { call, peek }: Admitted): number {
  return call.startedMs + (peek.stream ? limits.streamMs : limits.bufferedMs);
}

function billOf({ usage, costNanousd, components }: Settlement): Bill {
  return { usage: usage ?? ZERO_USAGE, costNanousd, costUsd: usdNumber(costNanousd), components };
}

/**
 * Sends the terminal frame, the buffered response or the error. None of it is sent before the settlement is durable.
 */
function finishResponse(admitted: Admitted, served: AttemptResult, settlement: Settlement, sink: ClientSink): void {
  const { call, record } = admitted;
  if (served.error !== null && !sink.headSent) {
    refuse(call, record, sink, served.error, settlement);
    return;
  }
  try {
    served.deliver(billOf(settlement), receiptLines(settlement));
  } catch (error) {
    refuse(call, record, sink, error, settlement);
  }
}

function noteSettlement(record: ExchangeRecord, served: Served, settlement: Settlement): void {
  record.host = served.host;
  record.attempts = served.attempts;
  record.tries = served.tries ?? null;
  record.status = settlement.httpStatus;
  record.ended = settlement.ended;
  record.errorCode = served.error?.ownCode ?? null;
  record.fault = served.hostFault;
  record.usageSource = settlement.usageSource;
  record.usage = settlement.usage;
  record.costNanousd = settlement.costNanousd;
  record.lossNanousd = settlement.lossNanousd;
  record.lossReason = settlement.lossReason;
}
