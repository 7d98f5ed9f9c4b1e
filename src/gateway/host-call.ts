import { GatewayError } from '../canonical/errors.ts';
import type { CanonicalReasoning, CanonicalRequest } from '../canonical/request.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Candidate } from '../hosts/directory.ts';
import type { JsonText } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { Adjustments } from '../wires/adjustments.ts';
import { forwardedLabels } from '../wires/fields/labels.ts';
import type { Members } from '../wires/fields/members.ts';
import { asksToReason } from '../wires/fields/read-reasoning.ts';
import type { HubClient, HubUpstream, WriteTerms } from '../wires/hub.ts';
import { type CapabilityNeed, limitFieldOf, type Peek } from '../wires/peek.ts';
import { WIRES } from '../wires/registry.ts';
import type { BufferedResponse, HostError, RelayTerms, StreamRelay, UpstreamTerms, Wire } from '../wires/wire.ts';
import { type Admission, checkClamped, checkNeeds, effortFor, meetsNeeds } from './admit.ts';
import type { Call } from './call.ts';
import { memoriesOf } from './frame-memories.ts';
import { TranslatedStream, translateResponse } from './translate.ts';

/** One possible call to a host: the bytes to send, and how to read the response. */
export interface HostCall {
  readonly candidate: Candidate;
  /** Absent for a caller's own deployment. */
  readonly model?: Pick<CatalogModel, 'id' | 'contextWindow'>;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How the request to the host differs from the caller's, for the caller; null if it does not. */
  readonly adjusted: string | null;
  /** Called once, when this host is asked. Mostly built only then, because a second host is seldom called. */
  body(): Buffer;
  openStream(): StreamRelay;
  spliceResponse(body: Buffer): BufferedResponse;
  /** Turns a complete response into stream frames of the host's wire, for a host that did not stream. */
  responseAsStream(body: Buffer): Buffer | null;
  /** Without a body if it broke off or cannot be read. */
  readError(status: number, body: Buffer | null): HostError;
  /** The caller's error for a failed connection; if absent, a general one that says nothing about the host. */
  explain?(failure: Error): GatewayError;
}

/** What all host calls of one request are built from. */
export interface CallContext {
  readonly call: Call;
  readonly text: JsonText;
  readonly peek: Peek;
  readonly admission: Admission;
  readonly createdS: number;
  nowS(): number;
  /** If false, every frame of a stream is parsed, even one that repeats an earlier frame. */
  readonly frameMemory: boolean;
}

/**
 * Prepares a call to each of the model's hosts, in the order to try them. If no host's wire can carry the request, it is
 * refused here with the name of the field, before any money is held. With `mayAdjust`, fields are dropped instead, but only
 * if no host can carry them.
 */
export function prepareHostCalls(
  context: CallContext,
  candidates: readonly Candidate[],
  mayAdjust: boolean,
): HostCall[] {
  let prepared = hostCallsFor(context, candidates, false);
  if (mayAdjust && prepared instanceof GatewayError) prepared = hostCallsFor(context, candidates, true);
  if (prepared instanceof GatewayError) throw prepared;
  return prepared;
}

/** At least one call, or the first refusal. */
function hostCallsFor(
  context: CallContext,
  candidates: readonly Candidate[],
  mayAdjust: boolean,
): HostCall[] | GatewayError {
  let refusal: GatewayError | null = null;
  let read: ReadRequest | null = null;
  const hostCalls: HostCall[] = [];
  for (const candidate of candidates) {
    if (hostCalls.length === LIMITS.hostAttemptsMax) break;
    try {
      if (speaksOurs(context, candidate)) hostCalls.push(sameWire(context, candidate, mayAdjust));
      else {
        const halves = hubHalves(context, candidate);
        read ??= readCanonical(context, halves.client, mayAdjust);
        hostCalls.push(translated(context, candidate, read, halves));
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal ??= error;
    }
  }
  return hostCalls.length > 0 ? hostCalls : (refusal ?? noHost());
}

/** A request in the canonical form, and what was left out of it. */
interface ReadRequest {
  readonly canonical: CanonicalRequest;
  readonly adjustments: Adjustments;
}

function readCanonical({ text, peek }: CallContext, client: HubClient, mayAdjust: boolean): ReadRequest {
  const adjustments = new Adjustments(mayAdjust, client.fieldNames);
  return { canonical: client.readRequest(text, peek, adjustments), adjustments };
}

/**
 * Whether the host takes the caller's wire, or the wire that it is a variant of, and the model has the capability it
 * needs.
 */
function speaksOurs({ call, admission }: CallContext, { wires }: Candidate): boolean {
  const { name, hostWire, needs } = call.wire;
  if (needs !== undefined && !admission.model.caps.has(needs)) return false;
  const spoken = hostWire ?? name;
  return wires.some((wire) => wire === spoken);
}

/** `afterMs` is the time until a host of the model may be tried again, if known. */
export function noHost(afterMs = 0): GatewayError {
  return new GatewayError('no_healthy_host', {
    message: 'No host of this model can be called right now.',
    retryAfterS: Math.max(1, Math.ceil(afterMs / 1000)),
  });
}

/** The host's wire, and the halves that translate between it and the caller's. */
interface HubHalves {
  readonly wire: Wire;
  readonly client: HubClient;
  readonly upstream: HubUpstream;
}

function hubHalves({ call, admission }: CallContext, { wires }: Candidate): HubHalves {
  const client = call.wire.hub?.client;
  const wire = wires.map((name) => WIRES[name]).find(({ hub }) => hub?.upstream !== undefined);
  if (client !== undefined && wire !== undefined) return { wire, client, upstream: wire.hub!.upstream! };
  throw new GatewayError('wrong_wire', {
    param: 'model',
    message: `${admission.model.id} cannot be reached by this route; its capabilities are ${[...admission.model.caps].join(', ')}.`,
  });
}

/** Sends the caller's own bytes, edited in place; the host's frames are checked and repaired. */
function sameWire(context: CallContext, candidate: Candidate, mayAdjust: boolean): HostCall {
  const { call, text, peek, admission } = context;
  const { row } = candidate.host;
  const { relay } = call.wire;
  const terms = relayTerms(context, candidate);
  const { outputLimitField, forwards, reducesVectors, quirks } = row;
  const { outputLimit, reasoningEffort, model } = admission;
  const { hostModel } = candidate;
  const hostTerms: UpstreamTerms = {
    hostModel,
    outputLimit,
    outputLimitField,
    forwards,
    reasoningEffort,
    thinking: model.thinking ?? null,
    alwaysReasons: alwaysReasons(model),
    hasNoSwitch: hasNoSwitch(model),
    reducesVectors,
    quirks,
  };
  const write = (): Buffer => relay.spliceRequest(text, peek, hostTerms);
  const written = relay.mayRefuse?.(text) === true ? write() : null;
  const withMemories = (): RelayTerms =>
    context.frameMemory ? { ...terms, ...memoriesOf(candidate, terms.hideReasoning) } : terms;
  return {
    candidate,
    model,
    path: relay.path,
    headers: headersOf(relay.headers, peek.hostHeaders),
    adjusted: adjustedOnSameWire(context, hostTerms, mayAdjust),
    body: written === null ? write : handOver(written),
    openStream: () => relay.stream!.mend(withMemories()),
    spliceResponse: (body) => relay.spliceResponse(body, withMemories()),
    responseAsStream: (body) => relay.stream?.responseAsStream(body) ?? null,
    readError: (status, body) => relay.readError(status, body),
  };
}

/** What a host of the caller's own wire does not get or gets changed, and a limit that was lowered. */
function adjustedOnSameWire(
  { call, text, admission }: CallContext,
  terms: UpstreamTerms,
  mayAdjust: boolean,
): string | null {
  const { relay } = call.wire;
  if (admission.clamped === null && relay.noteLeftOut === undefined) return null;
  const adjustments = new Adjustments(mayAdjust);
  relay.noteLeftOut?.(text, terms, adjustments);
  return adjustments.describe(admission.clamped);
}

const NO_HEADERS = {};

/**
 * Returns the wire's own object if nothing is added, so that the sender can recognise it and reuse its encoded form.
 */
function headersOf(wires: HostCall['headers'] = NO_HEADERS, callers?: HostCall['headers']): HostCall['headers'] {
  return callers === undefined ? wires : { ...wires, ...callers };
}

/** Translates request and response through the canonical form. */
function translated(context: CallContext, candidate: Candidate, read: ReadRequest, halves: HubHalves): HostCall {
  const adjustments = read.adjustments.copy();
  const reasoning = possibleReasoning(read.canonical, context, adjustments);
  const canonical = { ...read.canonical, reasoning };
  checkClamped(context.admission, context.peek, reasoning);
  const { wire, client, upstream } = halves;
  const { peek, admission } = context;
  const { quirks, outputLimitField, forwards } = candidate.host.row;
  const { outputLimit, model } = admission;
  const body = upstream.writeRequest(canonical, {
    hostModel: candidate.hostModel,
    stream: peek.stream,
    outputLimit,
    outputLimitField,
    callersLimitField: limitFieldOf(peek),
    reasoningEffort: admission.reasoningEffort ?? effortFor(model, canonical, outputLimit),
    thinking: model.thinking ?? null,
    fixedSampling: model.fixedSampling,
    alwaysReasons: alwaysReasons(model),
    hasNoSwitch: hasNoSwitch(model),
    quirks,
    labels: forwardedLabels(context.text.value as Members, forwards),
    adjustments,
  });
  const terms: WriteTerms = { ...relayTerms(context, candidate), outputLimit };
  return {
    candidate,
    model,
    path: wire.relay.path,
    headers: headersOf(wire.relay.headers),
    adjusted: adjustments.describe(admission.clamped),
    body: handOver(body),
    openStream: () => new TranslatedStream(client, upstream, terms, quirks),
    spliceResponse: (answer) => translateResponse(answer, client, upstream, terms, quirks),
    responseAsStream: (answer) => wire.relay.stream?.responseAsStream(answer) ?? null,
    readError: (status, answer) => wire.relay.readError(status, answer),
  };
}

/** Gives the bytes once and does not keep them: a host may answer for many minutes, and a prompt may be large. */
export function handOver(bytes: Buffer): () => Buffer {
  let kept: Buffer | null = bytes;
  return () => {
    if (kept === null) throw new Error('The body of a request to a host was already handed over.');
    const given = kept;
    kept = null;
    return given;
  };
}

function alwaysReasons({ reasoningEfforts }: CatalogModel): boolean {
  return reasoningEfforts.length > 0 && !reasoningEfforts.includes('none');
}

/** The model reasons, and its row has nothing by which that could be switched off. */
function hasNoSwitch({ reasoningEfforts, thinking, caps }: CatalogModel): boolean {
  return caps.has('reasoning') && reasoningEfforts.length === 0 && (thinking ?? null) === null;
}

/** What a request asks for in a field of another wire, which admission does not read. Only a budget is never dropped. */
function possibleReasoning(
  { reasoning }: CanonicalRequest,
  { peek, admission: { model } }: CallContext,
  adjustments: Adjustments,
): CanonicalReasoning | null {
  if (reasoning === null || !asksToReason(reasoning) || meetsNeeds(model, [REASONING_NEED])) return reasoning;
  if (peek.reasoning !== null && asksToReason(peek.reasoning)) return reasoning;
  if (reasoning.budgetTokens !== null || !adjustments.mayDrop) checkNeeds(model, [REASONING_NEED]);
  adjustments.note('reasoning');
  return null;
}

const REASONING_NEED: CapabilityNeed = { capability: 'reasoning', param: 'thinking' };

function relayTerms(
  { call, text, peek, admission, createdS, nowS, frameMemory }: CallContext,
  { host }: Candidate,
): RelayTerms {
  return {
    catalogModel: admission.model.id,
    requestId: call.requestId,
    createdS,
    nowS,
    wantsUsageFrame: peek.wantsUsageFrame,
    hideReasoning: peek.reasoning?.hideReasoning ?? false,
    request: text.value,
    quirks: host.row.quirks,
    parseEveryFrame: !frameMemory,
  };
}
