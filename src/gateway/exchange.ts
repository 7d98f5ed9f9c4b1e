import type { GatewayError } from '../canonical/errors.ts';
import type { Settlement } from '../canonical/receipt.ts';
import { ZERO_USAGE } from '../canonical/usage.ts';
import type { JsonText } from '../kit/json.ts';
import { usdNumber } from '../money/nanousd.ts';
import { refuseDisguised } from '../wires/disguised-names.ts';
import type { Bill, Peek } from '../wires/wire.ts';
import { type Admission, admitByCount, servesRoute, type TextCounter } from './admit.ts';
import { admitResolved } from './choose-model.ts';
import type { ClientSink } from './client-sink.ts';
import { type ExchangeRecord, openRecord } from './exchange-record.ts';
import type { Call, Gateway, PricedCatalog } from './gateway.ts';
import { refusalOfHold } from './hold-refusal.ts';
import { meter } from './meter.ts';
import type { Outcome } from './outcome.ts';
import { findPassages, type Passage } from './passage.ts';
import { readBody, readCeiling, readModelName, refuseForeignLimits } from './read-call.ts';
import { receiptHeaders } from './receipt-headers.ts';
import { refuse } from './refuse.ts';
import type { AttemptResult } from './relay/attempt.ts';
import { resolve } from './resolve.ts';
import { serve } from './serve.ts';

/** A call with everything that was found out about it on the way in. */
export interface Admitted {
  readonly call: Call;
  readonly text: JsonText;
  readonly peek: Peek;
  readonly admission: Admission;
  /** The ways to the model's hosts; at least one. */
  readonly passages: readonly Passage[];
  readonly prices: PricedCatalog;
  readonly record: ExchangeRecord;
}

/**
 * The life of a request: understand it, admit it, hold the worst case, let a host answer, settle what it cost, and only
 * then give the client the last word. The hold taken here ends here, exactly once.
 */
export async function exchange(gateway: Gateway, call: Call, sink: ClientSink): Promise<void> {
  const record = openRecord(call);
  try {
    const admitted = await understand(gateway, call, record);
    await inStreamSlot(gateway, admitted, async () => {
      const hold = await takeHold(gateway, admitted);
      await serveUnderHold(gateway, hold, sink);
    });
  } catch (error) {
    refuse(call, record, sink, error);
  }
  record.totalMs = gateway.clock.monotonicMs() - call.startedMs;
  gateway.observe(record);
}

/** A stream takes one of its key's slots, for as long as its host may still speak. */
async function inStreamSlot(gateway: Gateway, { call, peek }: Admitted, run: () => Promise<void>): Promise<void> {
  if (!peek.stream) return run();
  const { keyId } = call.caller;
  gateway.streams.take(keyId);
  try {
    await run();
  } finally {
    gateway.streams.free(keyId);
  }
}

/** Reads the body once, names the model, checks it, and knows the worst case; nothing has cost anything yet. */
async function understand(gateway: Gateway, call: Call, record: ExchangeRecord): Promise<Admitted> {
  const text = readBody(call.body);
  record.requestedModel = readModelName(text);
  refuseForeignLimits(call.headers);
  refuseDisguised(text.value);
  const peek = call.wire.client.peek(text, call.headers);
  record.requestedModel = peek.model;
  record.stream = peek.stream;
  const prices = gateway.prices();
  const named = resolve(prices.catalog, call.caller, peek.model, (model) => servesRoute(model, peek.needs));
  if (named.kind === 'unknown') throw named.refusal;
  if (named.kind === 'model') record.effectiveModel = named.model.id;
  const createdS = Math.floor(gateway.clock.nowMs() / 1000);
  const findWays = (admission: Admission): Passage[] =>
    findPassages({ call, text, peek, admission, createdS }, gateway.hosts().candidates(admission.model));
  const { admission, ways } = await admitResolved(named, peek, counterFor(gateway, call, text), findWays);
  record.effectiveModel = admission.model.id;
  return { call, text, peek, admission, passages: ways, prices, record };
}

function counterFor(gateway: Gateway, call: Call, text: JsonText): TextCounter {
  return (encoding) => gateway.countTokens.count(encoding, call.wire.client.texts(text.value));
}

/** Holds the worst case over ceiling, key cap and balance, all or none; if bytes were too coarse a bound, counts once. */
async function takeHold(gateway: Gateway, admitted: Admitted): Promise<Admitted> {
  const { call, text, peek, admission } = admitted;
  const ceilingNanousd = readCeiling(call.headers);
  const refused = await tryHold(gateway, admitted, ceilingNanousd);
  if (refused === null) return admitted;
  const counted = await admitByCount(admission, peek, counterFor(gateway, call, text));
  if (counted === null || counted.worstNanousd >= admission.worstNanousd) throw refused;
  const recounted = { ...admitted, admission: counted };
  const refusedAgain = await tryHold(gateway, recounted, ceilingNanousd);
  if (refusedAgain !== null) throw refusedAgain;
  return recounted;
}

async function tryHold(
  gateway: Gateway,
  admitted: Admitted,
  ceilingNanousd: bigint | null,
): Promise<GatewayError | null> {
  const { call, peek, admission, prices, record } = admitted;
  const result = await gateway.ledger.hold({
    id: call.id,
    accountId: call.caller.accountId,
    keyId: call.caller.keyId,
    amountNanousd: admission.worstNanousd,
    ceilingNanousd,
    route: call.route,
    stream: peek.stream,
    requestedModel: peek.model,
    effectiveModel: admission.model.id,
    priceId: prices.priceId,
    labels: peek.labels,
    idempotency: null,
  });
  if (result.kind === 'hold_refused') return refusalOfHold(result, admission, peek);
  record.heldNanousd = admission.worstNanousd;
  record.heldAfterMs = gateway.clock.monotonicMs() - call.startedMs;
  return null;
}

/** From here on there is a hold: whatever happens, it is settled or released below, and awaited. */
async function serveUnderHold(gateway: Gateway, admitted: Admitted, sink: ClientSink): Promise<void> {
  const { call, record } = admitted;
  let served: (AttemptResult & Outcome) | null = null;
  let settlement: Settlement;
  try {
    served = await serve(gateway, admitted, sink);
    settlement = settlementFor(admitted, served);
  } catch (error) {
    await gateway.ledger.release(call.id, { ended: 'failed', httpStatus: 500 });
    throw error;
  }
  record.answeredAfterMs = gateway.clock.monotonicMs() - call.startedMs;
  const settled = await gateway.ledger.settle(call.id, settlement);
  record.settledAfterMs = gateway.clock.monotonicMs() - call.startedMs;
  noteSettlement(record, served, settled.settlement);
  giveLastWord(admitted, served, settled.settlement, sink);
}

function settlementFor({ admission, peek }: Admitted, served: Outcome): Settlement {
  return meter({
    outcome: served,
    stream: peek.stream,
    price: admission.model.price,
    heldNanousd: admission.worstNanousd,
    inputBound: admission.inputBound,
    outputBound: admission.outputBound,
    inputEstimateTokens: admission.inputEstimateTokens,
  });
}

/** The terminal frame, the buffered answer or the error: nothing of it left before the settlement was durable. */
function giveLastWord(admitted: Admitted, served: AttemptResult, settlement: Settlement, sink: ClientSink): void {
  const { call, record } = admitted;
  if (served.error !== null && !sink.headSent) {
    refuse(call, record, sink, served.error, settlement);
    return;
  }
  const { costNanousd, components } = settlement;
  const usage = settlement.usage ?? ZERO_USAGE;
  const bill: Bill = { usage, costNanousd, costUsd: usdNumber(costNanousd), components };
  try {
    served.deliver(bill, receiptHeaders(settlement));
  } catch (error) {
    refuse(call, record, sink, error, settlement);
  }
}

function noteSettlement(record: ExchangeRecord, served: AttemptResult & Outcome, settlement: Settlement): void {
  record.host = served.host;
  record.attempts = served.attempts;
  record.status = settlement.httpStatus;
  record.ended = settlement.ended;
  record.errorCode = served.error?.code ?? null;
  record.fault = served.hostFault;
  record.usageSource = settlement.usageSource;
  record.usage = settlement.usage;
  record.costNanousd = settlement.costNanousd;
  record.lossNanousd = settlement.lossNanousd;
  record.lossReason = settlement.lossReason;
}
