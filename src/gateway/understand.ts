import type { JsonText } from '../json/json.ts';
import type { IdempotencyMark } from '../store/store.ts';
import { refuseCaseVariants } from '../wires/fields/case-variants.ts';
import type { Peek } from '../wires/peek.ts';
import { type Admission, admitByCount, servesRoute } from './admit.ts';
import type { Call } from './call.ts';
import { CHAIN_HEADER, readChain, readFirstModel } from './chain.ts';
import { hostsFor } from './choose-host.ts';
import { admitResolved, type ChosenModel } from './choose-model.ts';
import { counterFor } from './counting/prompt-counter.ts';
import { admitDeployment } from './deployments/deployment.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import { refuseForeignHeaders } from './foreign-headers.ts';
import type { Gateway, PricedCatalog } from './gateway.ts';
import { type HostCall, prepareHostCalls } from './host-call.ts';
import { readIdempotencyMark } from './idempotency.ts';
import { allowsAdjusting } from './on-unsupported.ts';
import { checkCallBody, parseCallBody, readCeiling, readModelName } from './read-call.ts';
import { resolve } from './resolve.ts';
import { refuseUnknownModel } from './unknown-model.ts';

/** A call with the results of all checks before the hold. */
export interface Admitted {
  readonly call: Call;
  readonly text: JsonText;
  readonly peek: Peek;
  readonly admission: Admission;
  /** The calls to the model's hosts, at least one, in the order to try them. */
  readonly hostCalls: readonly HostCall[];
  readonly prices: PricedCatalog;
  /** The ceiling of the request or of the key, whichever is lower. */
  readonly ceilingNanousd: bigint | null;
  readonly idempotency: IdempotencyMark | null;
  /** The caller's chain of calls that this one belongs to. */
  readonly chain: string | null;
  /** The account's loss allowance would not have covered this call when it was admitted, because it was drawn on before. */
  readonly hangupsCharged?: boolean;
  /** The prompt was not counted, because the account's loss allowance is used up. */
  readonly countRefused?: boolean;
  readonly record: ExchangeRecord;
}

/**
 * Parses the body once, resolves the model, checks the request and computes the worst case. Nothing is charged yet. It
 * returns a promise only for token counts and for callers' own deployments; other calls do not wait.
 */
export function understand(gateway: Gateway, call: Call, record: ExchangeRecord): Admitted | Promise<Admitted> {
  const checked = checkCallBody(gateway, call);
  // The refusal of a call in a chain names the first model of the chain, which is read later. That of a deferred call
  // names the model that was chosen when it was accepted.
  const isKnownLater = CHAIN_HEADER in call.headers || call.deferred != null;
  const refusing = isKnownLater ? null : refuseUnknownModel(gateway, call, checked, record);
  if (refusing === null) return understandBody(gateway, call, record, parseCallBody(checked, call));
  return refusing.then(() => understandBody(gateway, call, record, parseCallBody(checked, call)));
}

function understandBody(
  gateway: Gateway,
  call: Call,
  record: ExchangeRecord,
  text: JsonText,
): Admitted | Promise<Admitted> {
  record.requestedModel = readModelName(text);
  refuseForeignHeaders(call.headers);
  const mayAdjust = allowsAdjusting(call);
  const chain = readChain(call.headers);
  const idempotency = readIdempotencyMark(call);
  refuseCaseVariants(text.value);
  const peek = call.wire.client.peek(text, call.headers);
  const read = { call, text, peek, idempotency, chain, record };
  const prices = gateway.prices();
  const first = chain === null ? null : readFirstModel(call, prices.catalog, gateway.custody);
  if (first instanceof Promise) return first.then((model) => admitRead(gateway, read, prices, mayAdjust, model));
  return admitRead(gateway, read, prices, mayAdjust, first);
}

/** A call whose headers and fields are valid. */
type ReadCall = Pick<Admitted, 'call' | 'text' | 'peek' | 'idempotency' | 'chain' | 'record'>;

function admitRead(
  gateway: Gateway,
  read: ReadCall,
  prices: PricedCatalog,
  mayAdjust: boolean,
  firstModel: string | null,
): Admitted | Promise<Admitted> {
  const { peek, record } = read;
  record.requestedModel = firstModel ?? peek.model;
  record.stream = peek.stream;
  const chosen = chooseModelAndHosts(gateway, read, prices, mayAdjust);
  if (chosen instanceof Promise) return chosen.then((model) => admitChosen(gateway, read, prices, model));
  return admitChosen(gateway, read, prices, chosen);
}

function chooseModelAndHosts(
  gateway: Gateway,
  { call, text, peek, record }: ReadCall,
  prices: PricedCatalog,
  mayAdjust: boolean,
): ChosenModel | Promise<ChosenModel> {
  const modelName = call.deferred?.modelId ?? peek.model;
  const named = resolve(prices.catalog, call.caller, modelName, (model) => servesRoute(model, peek.needs));
  if (named.kind === 'model') record.effectiveModel = named.model.id;
  // The model was in the catalog when the call was accepted, so its name is not that of a deployment.
  else if (named.kind === 'unknown' && call.deferred?.modelId != null) throw named.refusal;
  const nowS = (): number => Math.floor(gateway.clock.nowMs() / 1000);
  const createdS = nowS();
  const { frameMemory } = gateway;
  if (named.kind === 'unknown')
    return admitDeployment(gateway, { call, text, peek, createdS, nowS, frameMemory }, named.refusal, record);
  const prepareCalls = (admission: Admission, mayAdjust: boolean): HostCall[] => {
    const context = { call, text, peek, admission, createdS, nowS, frameMemory };
    return prepareHostCalls(context, hostsFor(gateway, context), mayAdjust);
  };
  return admitResolved(named, peek, counterFor(gateway, call, text, peek), prepareCalls, mayAdjust);
}

/** Counts the prompt first if a hold by its bytes would be too high. */
function admitChosen(
  gateway: Gateway,
  { call, text, peek, idempotency, chain, record }: ReadCall,
  prices: PricedCatalog,
  { admission, hostCalls }: ChosenModel,
): Admitted | Promise<Admitted> {
  record.effectiveModel = admission.model.id;
  const ceilingNanousd = lower(readCeiling(call.headers), call.caller.key?.maxCostNanousd ?? null);
  const byBytes: Admitted = {
    call,
    text,
    peek,
    admission,
    hostCalls,
    prices,
    ceilingNanousd,
    idempotency,
    chain,
    record,
  };
  if (call.deferred != null || !holdsTooMuch(gateway, admission)) return byBytes;
  return admittedByCount(gateway, byBytes).then((counted) => counted ?? byBytes);
}

function lower(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** The part of a hold that the prompt must have for a count to lower it noticeably. */
const NOTICEABLE_SHARE = 10n;

/** Whether a hold by bytes would be so high that the prompt is counted first. */
function holdsTooMuch({ limits }: Gateway, { worstNanousd, inputNanousd, counted }: Admission): boolean {
  return counted === null && worstNanousd > limits.countAboveNanousd && inputNanousd * NOTICEABLE_SHARE >= worstNanousd;
}

/** The same call with its prompt counted; null if that is not possible or does not lower the hold. */
export async function admittedByCount(gateway: Gateway, admitted: Admitted): Promise<Admitted | null> {
  const { call, text, peek, admission } = admitted;
  const counted = await admitByCount(admission, peek, counterFor(gateway, call, text, peek));
  if (counted === null || counted.worstNanousd >= admission.worstNanousd) return null;
  return { ...admitted, admission: counted };
}
