import type { GatewayError } from '../canonical/errors.ts';
import type { BlockHead, CanonicalEvent, CanonicalResponse, EventSink } from '../canonical/events.ts';
import type { HostQuirks } from '../canonical/host-quirks.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonText } from '../json/json.ts';
import type { SseFrame } from '../kit/sse.ts';
import type { Adjustments, FieldNames } from './adjustments.ts';
import type { Bill } from './bill.ts';
import type { Peek } from './peek.ts';

/** Translation on the caller's side: reads the request and writes the response. */
export interface HubClient {
  /** Throws `unsupported_parameter` with the name of a field that cannot be translated, unless it may be dropped. */
  readRequest(text: JsonText, peek: Peek, adjustments?: Adjustments): CanonicalRequest;
  /** What this wire calls fields that have another name elsewhere, for errors about the host's wire. */
  readonly fieldNames?: FieldNames;
  /** Whether the wire has a place for a block; absent: for all. The others are left out, and nothing of them counts as sent. */
  shows?(block: BlockHead): boolean;
  writeStream(terms: WriteTerms): StreamWriter;
  writeResponse(answer: CanonicalResponse, bill: Bill, terms: WriteTerms): Buffer;
}

/** What the client's response needs besides the events. */
export interface WriteTerms {
  readonly catalogModel: string;
  readonly requestId: string;
  readonly createdS: number;
  nowS(): number;
  readonly wantsUsageFrame: boolean;
  readonly hideReasoning: boolean;
  /** The caller's request, for wires that repeat it in their responses. */
  readonly request: unknown;
  readonly outputLimit: number;
}

/** Turns events into frames of the client's wire. The order of events was checked before. */
export interface StreamWriter {
  /** The frames of one event, or '' when it adds none. */
  event(event: CanonicalEvent): string;
  /** The end of the stream after settlement: usage if the wire has it, the terminator, the receipt. */
  closing(bill: Bill): string;
  /** The frames of the error that ends the stream, if they depend on what was sent before. */
  failure?(error: GatewayError): string;
}

/** Translation on the host's side: writes the request and reads the response. */
export interface HubUpstream {
  /** Throws `unsupported_parameter` with the name of a field that this wire lacks, unless it may be dropped. */
  writeRequest(request: CanonicalRequest, terms: HubRequestTerms): Buffer;
  readStream(quirks: HostQuirks, emit: EventSink): StreamReader;
  /** Emits a buffered response as events; throws HostResponseBroken. */
  readResponse(body: Buffer, quirks: HostQuirks, emit: EventSink): void;
}

export interface HubRequestTerms {
  readonly hostModel: string;
  readonly stream: boolean;
  readonly outputLimit: number;
  readonly outputLimitField: string;
  /** What the caller calls its output limit, for errors; absent: `max_tokens`. */
  readonly callersLimitField?: string;
  /** The effort level to send, already one that the model has; null sends none. */
  readonly reasoningEffort: string | null;
  /** Whether the model takes a thinking budget or an effort level; see the catalog. */
  readonly thinking: 'budget' | 'effort' | null;
  /** The model refuses temperature and similar fields; see the catalog. */
  readonly fixedSampling?: boolean;
  /** The model's reasoning cannot be switched off. */
  readonly alwaysReasons?: boolean;
  /** The model reasons, and nothing in its row switches that off. */
  readonly hasNoSwitch?: boolean;
  readonly quirks?: HostQuirks;
  /** Fields about the caller's user that the host's row forwards, as the caller wrote them; only two wires have them. */
  readonly labels?: Readonly<Record<string, unknown>>;
  /** Decides about fields that the host's wire lacks; absent: they are refused. */
  readonly adjustments?: Adjustments;
}

/** Reads one host stream into events; emits nothing after `finish` or `error`. */
export interface StreamReader {
  frame(frame: SseFrame): void;
  /** The host ended its body normally: emits what is still open, and `finish` if the response is complete. */
  end(): void;
}
