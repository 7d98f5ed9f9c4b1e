import type { IncomingHttpHeaders } from 'node:http';
import type { Capability } from '../canonical/capability.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { HostError } from '../canonical/host-error.ts';
import type { HostQuirks } from '../canonical/host-quirks.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { UsageReading } from '../canonical/usage.ts';
import type { HostWire, WireName } from '../canonical/wire-names.ts';
import type { JsonText } from '../json/json.ts';
import type { SseFrame } from '../kit/sse.ts';
import type { Adjustments } from './adjustments.ts';
import type { Bill } from './bill.ts';
import type { FrameMemory } from './frames/frame-memory.ts';
import type { PassedFrames } from './frames/passed-frames.ts';
import type { ResponseMemory } from './frames/response-memory.ts';
import type { HubClient, HubUpstream } from './hub.ts';
import type { Peek } from './peek.ts';

export type { HostError } from '../canonical/host-error.ts';

/**
 * A wire is a folder and a line in the registry. Its client half reads requests and writes errors. Its relay half serves
 * callers from hosts of the same wire and repairs what hosts get wrong. Its hub halves translate to and from other wires.
 */
export interface Wire {
  readonly name: WireName;
  readonly client: ClientHalf;
  readonly relay: RelayHalf;
  /** Its part in translation: on the caller's side, on the host's side, on both or on none. */
  readonly hub?: { readonly client?: HubClient; readonly upstream?: HubUpstream };
  /** The wire that the hosts speak, if it is not this one; the relay half then converts between the two. */
  readonly hostWire?: HostWire;
  /** The capability that a model needs for its hosts to be called on this wire. */
  readonly needs?: Capability;
  /** The route that counts the tokens of a prompt, for wires that have one. */
  readonly counter?: PromptCounter;
}

/** Has a host count a prompt. Counting is free and takes no hold. */
export interface PromptCounter {
  readonly path: string;
  /** What routing needs; refuses fields that are not part of a prompt. */
  peek(text: JsonText, headers: IncomingHttpHeaders): Pick<Peek, 'model' | 'needs' | 'hostHeaders'>;
  /** The caller's own bytes, for a host of this wire. */
  spliceRequest(text: JsonText, hostModel: string, quirks: HostQuirks): Buffer;
  /** Reads the caller's prompt for hosts that count on another wire; absent: only hosts of this wire count it. */
  readPrompt?(text: JsonText): CanonicalRequest;
  /** The part of a translated request that this wire's hosts count; absent: they count no translated prompts. */
  countedPart?(request: Buffer): Buffer;
  /** Throws HostResponseBroken if the body is not a count. */
  readCount(body: Buffer): number;
  writeCount(inputTokens: number): string;
}

export interface ClientHalf {
  /** Reads everything that admission needs, once; throws a GatewayError that names a wrong or refused field. */
  peek(text: JsonText, headers: IncomingHttpHeaders): Peek;
  /** Headers that `peek` reads, for calls that are made later than they are sent; absent: none. */
  readonly readsHeaders?: readonly string[];
  /** Fields that may begin the prompt, in order; absent: the prompt is in one field. */
  readonly promptFields?: readonly string[];
  writeError(error: GatewayError, requestId: string): WrittenError;
  /** The status that `writeError` gives an error; absent: always that of the table of errors. */
  statusOf?(error: GatewayError): number;
  /** The same error inside a stream, after its head was sent. */
  writeStreamError(error: GatewayError, requestId: string): string;
  /** Bytes that keep a silent stream alive; clients ignore them. */
  readonly keepAlive: string;
}

export interface WrittenError {
  readonly status: number;
  readonly body: string;
}

/** What must be set in the request to the host; everything else stays as the caller wrote it. */
export interface UpstreamTerms {
  readonly hostModel: string;
  readonly outputLimit: number;
  readonly outputLimitField: string;
  /** Label fields that the host may see. */
  readonly forwards: readonly string[];
  /** The effort level to send; null leaves the field out. */
  readonly reasoningEffort: string | null;
  /** Whether the model takes a thinking budget or an effort level; only the messages wire needs it. */
  readonly thinking?: 'budget' | 'effort' | null;
  /** The model's reasoning cannot be switched off; only the messages wire needs it. */
  readonly alwaysReasons?: boolean;
  /** The model reasons, and nothing in its row switches that off. */
  readonly hasNoSwitch?: boolean;
  /** The host can shorten vectors to the requested length. */
  readonly reducesVectors: boolean;
  readonly quirks?: HostQuirks;
}

export interface RelayTerms {
  readonly catalogModel: string;
  readonly requestId: string;
  readonly createdS: number;
  nowS(): number;
  readonly wantsUsageFrame: boolean;
  readonly hideReasoning: boolean;
  /** The caller's request, for wires whose responses depend on it or repeat it. */
  readonly request: unknown;
  readonly quirks: HostQuirks;
  /** What earlier streams taught about this host's frames, for the same model and terms; absent: nothing. */
  readonly memory?: FrameMemory;
  /** The same about its buffered responses. */
  readonly answers?: ResponseMemory;
  /** Parses every frame, even one that repeats an earlier frame; the setting `frame_memory: false`. */
  readonly parseEveryFrame?: boolean;
}

interface RelayHalf {
  readonly path: string;
  /** Headers of every request to a host of this wire, such as a version. */
  readonly headers?: Readonly<Record<string, string>>;
  spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer;
  /** Whether `spliceRequest` may refuse this request, so that it has to run before the hold; absent: it never does. */
  mayRefuse?(text: JsonText): boolean;
  /** Names what `spliceRequest` leaves out or changes for this host, or refuses it if the caller allows no dropping; absent: nothing. */
  noteLeftOut?(text: JsonText, terms: UpstreamTerms, adjustments: Adjustments): void;
  /** Throws HostResponseBroken if the body is not a response of this wire. */
  spliceResponse(body: Buffer, terms: RelayTerms): BufferedResponse;
  /** Without a body if it broke off or cannot be read. */
  readError(status: number, body: Buffer | null): HostError;
  /** Absent on wires that never stream. */
  readonly stream?: StreamHalf;
}

interface StreamHalf {
  mend(terms: RelayTerms): StreamRelay;
  /** The frames of a buffered response that came instead of a stream; null if it is not a response. */
  responseAsStream(body: Buffer): Buffer | null;
}

/** Relays one stream: takes whole frames, returns what goes to the client, and keeps track of usage and ending. */
export interface StreamRelay {
  /** The run of repeated frames that starts here, relayed without parsing; null if the frame here must be parsed. */
  repeated?(bytes: Buffer, from: number): PassedFrames | null;
  /** What to send now; null if the frame is withheld. */
  frame(frame: SseFrame): Buffer | string | null;
  readonly usage: UsageReading;
  readonly relayedBytes: number;
  /** About how much memory what is kept of the stream takes; absent: next to none. */
  readonly keptBytes?: number;
  /** The host has sent a terminator or an error. */
  readonly terminal: boolean;
  readonly error: HostError | null;
  /** True if the stream is complete even without a terminator. */
  readonly mayEndHere: boolean;
  /** The end of the client's stream: missing finish reasons, the usage frame if requested, the terminator. */
  closing(bill: Bill): string;
  /** The frames of the error that ends this stream, if they depend on what was sent before. */
  failure?(error: GatewayError): string;
}

export interface BufferedResponse {
  readonly usage: UsageReading;
  readonly relayedBytes: number;
  /** The client's body with the billed usage and its cost; may be called more than once. */
  write(bill: Bill): Buffer;
}

export class HostResponseBroken extends Error {
  override readonly name = 'HostResponseBroken';
  /** The error that the host sent instead of a response. */
  readonly hostError: HostError | null;

  constructor(message: string, hostError: HostError | null = null) {
    super(message);
    this.hostError = hostError;
  }
}
