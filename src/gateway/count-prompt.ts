import { invalidKey } from '../accounts/authenticate.ts';
import { GatewayError } from '../canonical/errors.ts';
import { MISSING_USAGE, ZERO_USAGE } from '../canonical/usage.ts';
import type { CatalogModel } from '../catalog/model.ts';
import { isClosed, isUsable } from '../hosts/choose.ts';
import type { Candidate } from '../hosts/directory.ts';
import type { JsonText } from '../json/json.ts';
import { refusing } from '../wires/adjustments.ts';
import type { Bill } from '../wires/bill.ts';
import type { Peek } from '../wires/peek.ts';
import { WIRES } from '../wires/registry.ts';
import type { HostError, PromptCounter, Wire } from '../wires/wire.ts';
import { checkNeeds, meetsNeeds, servesRoute } from './admit.ts';
import type { Call } from './call.ts';
import { soonestMs } from './choose-host.ts';
import type { ClientSink } from './client-sink.ts';
import { openRecord } from './exchange-record.ts';
import type { Gateway } from './gateway.ts';
import { inactiveAccount } from './hold-refusal.ts';
import { type HostCall, noHost } from './host-call.ts';
import { readCallBody, readModelName } from './read-call.ts';
import { FREE_LINES } from './receipt-headers.ts';
import { identityLines, refuse } from './refuse.ts';
import type { AttemptResult } from './relay/attempt.ts';
import { relayBuffered } from './relay/buffered.ts';
import { resolve } from './resolve.ts';
import { attemptTerms } from './serve.ts';

const NOTHING: Bill = { usage: ZERO_USAGE, costNanousd: 0n, costUsd: 0, components: null };

/** Has the model's host count a prompt. Counting is free, so there is no hold and no receipt. */
export async function countPrompt(gateway: Gateway, call: Call, sink: ClientSink): Promise<void> {
  const record = openRecord(call);
  try {
    const text = readCallBody(gateway, call);
    record.requestedModel = readModelName(text);
    const peek = counterOf(call.wire).peek(text, call.headers);
    const model = modelToCount(gateway, call, peek);
    record.effectiveModel = model.id;
    checkNeeds(model, peek.needs);
    await checkAccount(gateway, call);
    const lines = identityLines(call.requestId, peek.model, model.id);
    const countAt = (host: CountingHost): Promise<AttemptResult> => {
      record.host = host.candidate.host.row.name;
      const hostCall = countingHostCall(call, text, peek.hostHeaders, host);
      return relayBuffered(attemptTerms(gateway, call, hostCall, sink, lines));
    };
    const hosts = countingHosts(gateway, call, model);
    const result = await gateway.slots.during(call.caller, () => firstCount(gateway, hosts, countAt));
    if (result.error !== null) throw result.error;
    result.deliver(NOTHING, FREE_LINES);
    record.status = result.httpStatus;
    record.ended = result.ended;
  } catch (error) {
    refuse(call, record, sink, error);
  }
  record.totalMs = gateway.clock.monotonicMs() - call.startedMs;
  gateway.observe(record);
}

/** What a hold does for other calls: an account that may make no calls does not use the operator's hosts. */
async function checkAccount({ ledger }: Gateway, { caller: { accountId, key } }: Call): Promise<void> {
  const status = (await ledger.balance(accountId, key))?.account.status;
  if (status === undefined) throw invalidKey();
  if (status !== 'active') throw inactiveAccount(`account_${status}`);
}

/**
 * For "auto" or "default", chooses the model with the lowest input price among those that serve this route, have the needed
 * capabilities and a host that counts. If there is none, the error is about the cheapest of the route.
 */
function modelToCount(gateway: Gateway, call: Call, { model, needs }: Pick<Peek, 'model' | 'needs'>): CatalogModel {
  const named = resolve(gateway.prices().catalog, call.caller, model, (one) => servesRoute(one, needs));
  if (named.kind === 'model') return named.model;
  if (named.kind === 'unknown') throw named.refusal;
  const byPrice = named.among.filter((one) => servesRoute(one, needs)).toSorted(byInputPrice);
  const isAble = (one: CatalogModel): boolean =>
    meetsNeeds(one, needs) && hostsThatCount(gateway, call, one).length > 0;
  const chosen = byPrice.find(isAble) ?? byPrice[0];
  if (chosen !== undefined) return chosen;
  throw new GatewayError('model_not_found', {
    param: 'model',
    message: 'No model that this key may use counts prompts. GET /v1/models lists the available models.',
  });
}

function byInputPrice(a: CatalogModel, b: CatalogModel): number {
  return a.price.inputNanousdPerMillion < b.price.inputNanousdPerMillion ? -1 : 1;
}

/** A host that counts, and the wire on which it does. */
interface CountingHost {
  readonly model: CatalogModel;
  readonly candidate: Candidate;
  readonly wire: Wire;
}

/** The hosts of the caller's wire, then those whose wire can count a translated prompt. */
function hostsThatCount(gateway: Gateway, { wire: callers }: Call, model: CatalogModel): CountingHost[] {
  const candidates = gateway.hosts().candidates(model);
  const translated = counterOf(callers).readPrompt === undefined ? [] : TRANSLATED.filter((wire) => wire !== callers);
  return [callers, ...translated].flatMap((wire) =>
    candidates
      .filter(({ wires }) => wires.some((name) => name === wire.name))
      .map((candidate): CountingHost => ({ model, candidate, wire })),
  );
}

/** As for calls, ejected hosts come last, and a host whose key was rejected is left out. */
function countingHosts(gateway: Gateway, call: Call, model: CatalogModel): CountingHost[] {
  const counting = hostsThatCount(gateway, call, model);
  if (counting.length === 0) throw countsNothing(model);
  const nowMs = gateway.clock.monotonicMs();
  const open = counting.filter(({ candidate }) => !isClosed(candidate, nowMs));
  if (open.length === 0) {
    const candidates = counting.map(({ candidate }) => candidate);
    throw noHost(soonestMs(candidates, nowMs));
  }
  const [usable, ejected] = [true, false].map((is) =>
    open.filter(({ candidate }) => isUsable(candidate, nowMs) === is),
  );
  return [...usable!, ...ejected!];
}

/**
 * The count of the first host that gives one, or the last failure. As for calls, the third host needs the retry budget. The outcome
 * is not noted in the host's health: vendors run and limit counting apart from calls, so it says nothing about those.
 */
async function firstCount(
  { health }: Gateway,
  hosts: readonly CountingHost[],
  countAt: (host: CountingHost) => Promise<AttemptResult>,
): Promise<AttemptResult> {
  for (let at = 0; ; at++) {
    const result = await countAt(hosts[at]!);
    const mayGoOn = result.retryable || result.error?.kind === 'unsupported_feature';
    if (!mayGoOn || at + 1 === hosts.length || (at > 0 && !health.retries.spend())) return result;
  }
}

/** Wires whose hosts count translated prompts. */
const TRANSLATED = Object.values(WIRES).filter(({ counter, hub }) => counter?.countedPart && hub?.upstream);

function counterOf({ counter, name }: Wire): PromptCounter {
  if (counter === undefined) throw new Error(`The ${name} wire has no route that counts.`);
  return counter;
}

function countsNothing({ id }: CatalogModel): GatewayError {
  return new GatewayError('unsupported_feature', {
    param: 'model',
    message: `No host of ${id} counts prompts. Send the request itself: the usage of its response has the count.`,
  });
}

function countingHostCall(
  { wire: callers }: Call,
  text: JsonText,
  hostHeaders: Readonly<Record<string, string>> | undefined,
  host: CountingHost,
): HostCall {
  const { candidate, wire } = host;
  const counter = counterOf(wire);
  const body = wire === callers ? spliceRequest(text, host) : writeRequest(text, callers, host);
  return {
    candidate,
    path: counter.path,
    headers: { ...wire.relay.headers, ...(wire === callers && hostHeaders) },
    adjusted: null,
    body: () => body,
    openStream: () => {
      throw new Error('A count is never streamed.');
    },
    spliceResponse: (answer) => {
      const counted = counterOf(callers).writeCount(counter.readCount(answer));
      return { usage: MISSING_USAGE, relayedBytes: 0, write: () => Buffer.from(counted) };
    },
    responseAsStream: () => null,
    readError: (status, answer) => readError(wire.relay.readError(status, answer), host),
  };
}

function spliceRequest(text: JsonText, { candidate, wire }: CountingHost): Buffer {
  return counterOf(wire).spliceRequest(text, candidate.hostModel, candidate.host.row.quirks);
}

/** The prompt, translated for the host's wire; what only an answer needs is left out again. */
function writeRequest(text: JsonText, callers: Wire, { model, candidate, wire }: CountingHost): Buffer {
  const canonical = counterOf(callers).readPrompt!(text);
  const request = wire.hub!.upstream!.writeRequest(
    { ...canonical, reasoning: null },
    {
      hostModel: candidate.hostModel,
      stream: false,
      outputLimit: model.maxOutputTokens,
      outputLimitField: candidate.host.row.outputLimitField,
      reasoningEffort: null,
      thinking: null,
      quirks: candidate.host.row.quirks,
      adjustments: refusing(callers.hub?.client?.fieldNames),
    },
  );
  return counterOf(wire).countedPart!(request);
}

/** Not every host of a wire has its route for counting; such a host has not failed. */
function readError(error: HostError, { model }: CountingHost): HostError {
  if (error.status !== 404 && error.status !== 405) return error;
  return { ...error, kind: 'request', forCaller: countsNothing(model) };
}
