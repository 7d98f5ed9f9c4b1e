import type { IncomingHttpHeaders } from 'node:http';
import type { Capability } from '../canonical/capability.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { HostError } from '../canonical/host-error.ts';
import type { UsageReading } from '../canonical/usage.ts';
import type { HostWire, WireName } from '../canonical/wire-names.ts';
import type { JsonText } from '../json/json.ts';
import type { SseFrame } from '../kit/sse.ts';
import type { Bill } from './bill.ts';
import type { FrameMemory } from './frames/frame-memory.ts';
import type { PassedFrames } from './frames/passed-frames.ts';
import type { HubClient, HubUpstream } from './hub.ts';
import type { Peek } from './peek.ts';
import type { HostQuirks } from './quirks.ts';

export type { HostError, HostErrorKind } from '../canonical/host-error.ts';

/**
 * A wire is a folder and a line in the registry. Its client half reads what callers send and writes what they get;
 * its relay half passes the same wire through and repairs what hosts get wrong, frame by frame.
 */
export interface Wire {
  readonly name: WireName;
  readonly client: ClientHalf;
  readonly relay: RelayHalf;
  /** How the wire takes part in translation: as the caller's, as a host's, or not at all. */
  readonly hub?: { readonly client?: HubClient; readonly upstream?: HubUpstream };
  /** A host's wire whose requests and answers this one writes and reads itself, being another spelling of it. */
  readonly spells?: HostWire;
  /** A capability without which a model's host does not speak this wire for it. */
  readonly needs?: Capability;
}

export interface ClientHalf {
  /** Reads everything admission needs, once; throws a GatewayError naming the field for what is wrong or refused. */
  peek(text: JsonText, headers: IncomingHttpHeaders): Peek;
  /** All text a tokenizer would read, for the rare exact count. */
  texts(body: unknown): string[];
  /** Where a prompt begins, the first of these fields that is there; absent: the one field that holds it. */
  readonly promptFields?: readonly string[];
  writeError(error: GatewayError, requestId: string): WrittenError;
  /** The same error inside a stream whose head has left. */
  writeStreamError(error: GatewayError, requestId: string): string;
  /** Bytes that keep a silent stream alive without meaning anything. */
  readonly keepAlive: string;
}

export interface WrittenError {
  readonly status: number;
  readonly body: string;
}

/** What the request that leaves must say; everything else in it stays as the caller wrote it. */
export interface UpstreamTerms {
  readonly hostModel: string;
  readonly outputLimit: number;
  readonly outputLimitField: string;
  /** Label fields the host may see. */
  readonly forwards: readonly string[];
  /** The effort word to send; null leaves the field out. */
  readonly reasoningEffort: string | null;
  /** The host cuts vectors to the wanted length itself. */
  readonly reducesVectors: boolean;
  readonly quirks?: HostQuirks;
}

export interface RelayTerms {
  readonly catalogModel: string;
  readonly requestId: string;
  readonly createdS: number;
  readonly wantsUsageFrame: boolean;
  readonly hideReasoning: boolean;
  /** The caller's request, for wires whose answers depend on it or repeat it. */
  readonly request: unknown;
  readonly quirks: HostQuirks;
  /** What earlier streams taught about this host's frames, for the same model and terms; absent: nothing. */
  readonly memory?: FrameMemory;
  /** Parses also the frames that repeat an earlier one of the same stream; the setting `frame_memory: false`. */
  readonly parseEveryFrame?: boolean;
}

export interface RelayHalf {
  readonly path: string;
  /** What every request on this wire carries to a host, as a version. */
  readonly headers?: Readonly<Record<string, string>>;
  spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer;
  /** Throws HostAnswerBroken when the body is no answer of this wire. */
  spliceResponse(body: Buffer, terms: RelayTerms): BufferedAnswer;
  readError(status: number, body: Buffer): HostError;
  /** Absent on wires that never stream. */
  readonly stream?: StreamHalf;
}

export interface StreamHalf {
  mend(terms: RelayTerms): StreamRelay;
  /** A whole answer given where a stream was asked for, as frames of the stream; null if it is no answer. */
  answerAsStream(body: Buffer): Buffer | null;
}

/** One stream on its way through; fed whole frames, it returns what goes on to the client and remembers what it saw. */
export interface StreamRelay {
  /** Frames known by their bytes, as many as stand here one after another; null if what begins here must be read. */
  repeated?(bytes: Buffer, from: number): PassedFrames | null;
  /** Bytes to send now, or null when the frame is withheld. */
  frame(frame: SseFrame): Buffer | string | null;
  readonly usage: UsageReading;
  readonly relayedBytes: number;
  /** The host has said its last word: a terminator or an error. */
  readonly terminal: boolean;
  readonly error: HostError | null;
  /** True when the stream may end here in good order though no terminator came. */
  readonly mayEndHere: boolean;
  /** What closes the stream for the client: missing finish reasons, the usage frame if asked, the terminator. */
  closing(bill: Bill): string;
  /** The error that ends this stream, where the wire's way of saying it depends on what was sent before. */
  failure?(error: GatewayError): string;
}

export interface BufferedAnswer {
  readonly usage: UsageReading;
  readonly relayedBytes: number;
  /** The client's body, with the billed usage and its cost written in; may be asked for more than once. */
  write(bill: Bill): Buffer;
}

export class HostAnswerBroken extends Error {
  override readonly name = 'HostAnswerBroken';
  /** The host's own error, where that stood in the answer's place. */
  readonly hostError: HostError | null;

  constructor(message: string, hostError: HostError | null = null) {
    super(message);
    this.hostError = hostError;
  }
}
