import type { IncomingHttpHeaders } from 'node:http';
import type { Capability } from '../canonical/capability.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { HostError } from '../canonical/host-error.ts';
import type { PromptSize } from '../canonical/prompt-size.ts';
import type { ReasoningAsk } from '../canonical/reasoning.ts';
import type { CostComponents } from '../canonical/receipt.ts';
import type { Usage, UsageReading } from '../canonical/usage.ts';
import type { JsonText } from '../json/json.ts';
import type { SseFrame } from '../kit/sse.ts';
import type { FrameMemory } from './frames/frame-memory.ts';
import type { HubClient, HubUpstream } from './hub.ts';

export type { HostError, HostErrorKind } from '../canonical/host-error.ts';

/**
 * A wire is a folder and a line in the registry. Its client half reads what callers send and writes what they get;
 * its relay half passes the same wire through, byte for byte (exact) or put right frame by frame (mended).
 */
export interface Wire {
  readonly name: string;
  readonly client: ClientHalf;
  readonly relay: RelayHalf;
  /** How the wire takes part in translation: as the caller's, as a host's, or not at all. */
  readonly hub?: { readonly client?: HubClient; readonly upstream?: HubUpstream };
  /** A host's wire whose requests and answers this one writes and reads itself, being another spelling of it. */
  readonly spells?: string;
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

/** A need that the model's capabilities must cover, with the field that makes it; of several, any one will do. */
export interface CapabilityNeed {
  readonly capability: Capability | readonly Capability[];
  readonly param: string;
}

export interface Peek {
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for a usage frame at the end of its stream. */
  readonly wantsUsageFrame: boolean;
  /** The output limit the caller gave and the field it stood in, or null for the wire's default. */
  readonly outputLimit: { readonly tokens: number; readonly field: string } | null;
  readonly defaultOutputLimit: number;
  /** What this wire calls the output limit; absent means `max_tokens`. */
  readonly limitParam?: string;
  /** How many answers one call may produce; each may reach the output limit. */
  readonly answers: number;
  /** How many prompts the window holds for, each by itself; absent means one. */
  readonly prompts?: number;
  readonly needs: readonly CapabilityNeed[];
  readonly size: PromptSize;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly reasoning: ReasoningAsk | null;
  /** The field the prompt stands in, for the message that finds it too long; absent means `messages`. */
  readonly promptParam?: string;
  /** Length asked for of every vector; only on the embeddings wire. */
  readonly dimensions?: number | null;
  /** Headers of the caller's that go to a host of the same wire. */
  readonly hostHeaders?: Readonly<Record<string, string>>;
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
  readonly manners?: HostManners;
}

/** How a host row departs from the wire's rules; what each word means stands in the wire's own folder. */
export interface HostManners {
  readonly readUsage?: string | undefined;
  /** Fields that the host is not sent, and fields that it always is. */
  readonly omits?: readonly string[];
  readonly adds?: Readonly<Record<string, string | number | boolean>>;
  readonly developerAsSystem?: boolean;
  /** The one name by which the host takes traces of earlier turns; absent: as they were written. */
  readonly traces?: 'reasoning' | 'reasoning_content' | 'none';
  /** Whose sealed reasoning the host makes and takes back; absent: its wire's own vendor's, `any`: every vendor's. */
  readonly seals?: string;
}

export interface RelayTerms {
  readonly catalogModel: string;
  readonly requestId: string;
  readonly createdS: number;
  readonly wantsUsageFrame: boolean;
  readonly hideReasoning: boolean;
  /** The caller's request, for wires whose answers depend on it or repeat it. */
  readonly request: unknown;
  readonly manners: HostManners;
  /** What earlier streams taught of this host's frames, for the same model, relayed alike; absent: nothing. */
  readonly memory?: FrameMemory;
}

export interface RelayHalf {
  readonly path: string;
  /** What every request on this wire carries to a host, as a version. */
  readonly headers?: Readonly<Record<string, string>>;
  writeRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer;
  /** Throws HostAnswerBroken when the body is no answer of this wire. */
  readAnswer(body: Buffer, terms: RelayTerms, mended: boolean): BufferedAnswer;
  readError(status: number, body: Buffer): HostError;
  /** Absent on wires that never stream. */
  readonly stream?: StreamHalf;
}

export interface StreamHalf {
  mend(terms: RelayTerms): StreamRelay;
  exact(terms: RelayTerms): StreamRelay;
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

/** Frames that went on without being read. */
export interface PassedFrames {
  /** Where what follows them begins. */
  readonly end: number;
  /** What goes to the client. */
  readonly bytes: Buffer;
}

export interface BufferedAnswer {
  readonly usage: UsageReading;
  readonly relayedBytes: number;
  /** The client's body, with the billed usage and its cost written in; may be asked for more than once. */
  write(bill: Bill): Buffer;
}

/** What was billed, as a wire writes it: the exact integer, and the same amount as the JSON number of dollars. */
export interface Bill {
  readonly usage: Usage;
  readonly costNanousd: bigint;
  readonly costUsd: number;
  /** Null where they would not sum to the cost. */
  readonly components: CostComponents | null;
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
