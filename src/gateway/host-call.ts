import { GatewayError } from '../canonical/errors.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { Candidate } from '../hosts/directory.ts';
import type { JsonText } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import type { HubClient, HubUpstream, WriteTerms } from '../wires/hub.ts';
import { WIRES } from '../wires/registry.ts';
import type { BufferedAnswer, HostError, Peek, RelayTerms, StreamRelay, Wire } from '../wires/wire.ts';
import type { Admission } from './admit.ts';
import { frameMemoryOf } from './frame-memories.ts';
import type { Call } from './gateway.ts';
import { TranslatedStream, translateAnswer } from './translate.ts';

/** One way from the caller's wire to a host and back: the bytes that go, and how what comes is understood. */
export interface Passage {
  readonly candidate: Candidate;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Made when it is needed: a second host is seldom asked. */
  body(): Buffer;
  openStream(): StreamRelay;
  readAnswer(body: Buffer): BufferedAnswer;
  /** A whole answer where a stream was asked for, as frames of the host's wire. */
  answerAsStream(body: Buffer): Buffer | null;
  readError(status: number, body: Buffer): HostError;
  /** What the caller is told when the connection fails; absent: that a host failed, and nothing about it. */
  explain?(failure: Error): GatewayError;
}

/** What every passage of one call is made from. */
export interface Crossing {
  readonly call: Call;
  readonly text: JsonText;
  readonly peek: Peek;
  readonly admission: Admission;
  readonly createdS: number;
}

/**
 * The ways to the model's hosts, in the order they should be tried. A request that no host's wire can carry is refused
 * here, by the name of the field, before any money is held.
 */
export function findPassages(crossing: Crossing, candidates: readonly Candidate[]): Passage[] {
  let refusal: GatewayError | null = null;
  let canonical: CanonicalRequest | null = null;
  const passages: Passage[] = [];
  for (const candidate of candidates) {
    if (passages.length === LIMITS.hostAttemptsMax) break;
    try {
      if (speaksOurs(crossing, candidate)) passages.push(sameWire(crossing, candidate));
      else {
        const halves = hubHalves(crossing, candidate);
        canonical ??= halves.client.readRequest(crossing.text, crossing.peek);
        passages.push(translated(crossing, candidate, canonical, halves));
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal ??= error;
    }
  }
  if (passages.length > 0) return passages;
  throw refusal ?? noHost();
}

/** The same wire, or another spelling of it; a wire that needs a capability of the model is not spoken without it. */
function speaksOurs({ call, admission }: Crossing, { wires }: Candidate): boolean {
  const { name, spells, needs } = call.wire;
  if (needs !== undefined && !admission.model.caps.has(needs)) return false;
  return wires.includes(spells ?? name);
}

export function noHost(): GatewayError {
  return new GatewayError('no_healthy_host', {
    message: 'No host of this model can be called right now.',
    retryAfterS: 1,
  });
}

/** The two wires that meet, and what each contributes. */
interface HubHalves {
  readonly wire: Wire;
  readonly client: HubClient;
  readonly upstream: HubUpstream;
}

function hubHalves({ call, admission }: Crossing, { wires }: Candidate): HubHalves {
  const client = call.wire.hub?.client;
  const wire = wires.map((name) => WIRES[name]!).find(({ hub }) => hub?.upstream !== undefined);
  if (client !== undefined && wire !== undefined) return { wire, client, upstream: wire.hub!.upstream! };
  throw new GatewayError('wrong_wire', {
    param: 'model',
    message: `${admission.model.id} cannot be reached by this route; its capabilities are ${[...admission.model.caps].join(', ')}.`,
  });
}

/** The caller's own bytes, spliced; the answer exact or mended. */
function sameWire(crossing: Crossing, candidate: Candidate): Passage {
  const { call, text, peek, admission } = crossing;
  const { row } = candidate.host;
  const { relay } = call.wire;
  const terms = relayTerms(crossing, candidate);
  // Where the host's name for the model differs from ours, every frame must be written anew.
  const isOwnName = candidate.hostModel === admission.model.id;
  const exact = row.relay === 'exact' && isOwnName && peek.reasoning === null;
  const { outputLimitField, forwards, reducesVectors, slots } = row;
  const { outputLimit, reasoningEffort } = admission;
  const { hostModel } = candidate;
  return {
    candidate,
    path: relay.path,
    headers: headersOf(relay.headers, peek.hostHeaders),
    body: () =>
      relay.writeRequest(text, peek, {
        hostModel,
        outputLimit,
        outputLimitField,
        forwards,
        reasoningEffort,
        reducesVectors,
        manners: slots,
      }),
    openStream: () => {
      const remembering = { ...terms, memory: frameMemoryOf(candidate, exact, terms.hideReasoning) };
      return exact ? relay.stream!.exact(remembering) : relay.stream!.mend(remembering);
    },
    readAnswer: (body) => relay.readAnswer(body, terms, !exact),
    answerAsStream: (body) => relay.stream?.answerAsStream(body) ?? null,
    readError: (status, body) => relay.readError(status, body),
  };
}

const NO_HEADERS = {};

/** The wire's own object where nothing is added to it: those that see it again need not write it again. */
function headersOf(wires: Passage['headers'] = NO_HEADERS, callers?: Passage['headers']): Passage['headers'] {
  return callers === undefined ? wires : { ...wires, ...callers };
}

/** Through the common language, both ways. */
function translated(crossing: Crossing, candidate: Candidate, canonical: CanonicalRequest, halves: HubHalves): Passage {
  const { wire, client, upstream } = halves;
  const { peek, admission } = crossing;
  const { slots, outputLimitField } = candidate.host.row;
  const { outputLimit, reasoningEffort, model } = admission;
  const body = upstream.writeRequest(canonical, {
    hostModel: candidate.hostModel,
    stream: peek.stream,
    outputLimit,
    outputLimitField,
    reasoningEffort,
    thinking: model.thinking ?? null,
    manners: slots,
  });
  const relay = relayTerms(crossing, candidate);
  const hideReasoning = relay.hideReasoning || client.tellsNoTraces === true;
  const terms: WriteTerms = { ...relay, hideReasoning, outputLimit };
  return {
    candidate,
    path: wire.relay.path,
    headers: headersOf(wire.relay.headers),
    body: () => body,
    openStream: () => new TranslatedStream(client, upstream, terms, slots),
    readAnswer: (answer) => translateAnswer(answer, client, upstream, terms, slots),
    answerAsStream: (answer) => wire.relay.stream?.answerAsStream(answer) ?? null,
    readError: (status, answer) => wire.relay.readError(status, answer),
  };
}

function relayTerms({ call, text, peek, admission, createdS }: Crossing, { host }: Candidate): RelayTerms {
  return {
    catalogModel: admission.model.id,
    requestId: call.requestId,
    createdS,
    wantsUsageFrame: peek.wantsUsageFrame,
    hideReasoning: peek.reasoning?.hideTrace ?? false,
    request: text.value,
    manners: host.row.slots,
  };
}
