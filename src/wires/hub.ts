import type { GatewayError } from '../canonical/errors.ts';
import type { CanonicalAnswer, CanonicalEvent, EventSink } from '../canonical/events.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonText } from '../json/json.ts';
import type { SseFrame } from '../kit/sse.ts';
import type { Bill } from './bill.ts';
import type { Peek } from './peek.ts';
import type { HostQuirks } from './quirks.ts';

/** How a client's wire takes part in translation: it reads its caller's request and writes the answer. */
export interface HubClient {
  /** Throws `unsupported_parameter` naming the field that the common language cannot carry. */
  readRequest(text: JsonText, peek: Peek): CanonicalRequest;
  /** The wire has no place for a trace, so none counts as told. */
  readonly tellsNoTraces?: true;
  writeStream(terms: WriteTerms): StreamWriter;
  writeResponse(answer: CanonicalAnswer, bill: Bill, terms: WriteTerms): Buffer;
}

/** What the client's answer needs besides the events. */
export interface WriteTerms {
  readonly catalogModel: string;
  readonly requestId: string;
  readonly createdS: number;
  readonly wantsUsageFrame: boolean;
  readonly hideReasoning: boolean;
  /** The caller's request, for wires whose answers repeat it. */
  readonly request: unknown;
  readonly outputLimit: number;
}

/** Turns events into frames of the client's wire. The order of events has been asserted before they come here. */
export interface StreamWriter {
  /** The frames of one event, or '' when it adds none. */
  event(event: CanonicalEvent): string;
  /** What closes the stream once it is settled: usage where the wire has it, the terminator, the receipt. */
  closing(bill: Bill): string;
  /** The error that ends the stream, where that depends on what was sent before. */
  failure?(error: GatewayError): string;
}

/** How a host's wire takes part: it is sent the canonical request and its answer is read. */
export interface HubUpstream {
  /** Throws `unsupported_parameter` naming what this wire cannot say. */
  writeRequest(request: CanonicalRequest, terms: HubRequestTerms): Buffer;
  readStream(quirks: HostQuirks, emit: EventSink): StreamReader;
  /** Emits the whole answer as events; throws HostAnswerBroken. */
  readResponse(body: Buffer, quirks: HostQuirks, emit: EventSink): void;
}

export interface HubRequestTerms {
  readonly hostModel: string;
  readonly stream: boolean;
  readonly outputLimit: number;
  readonly outputLimitField: string;
  /** The effort word for this model, already the nearest it has; null sends none. */
  readonly reasoningEffort: string | null;
  /** Whether the model takes a thinking budget or only an effort word; see the catalog. */
  readonly thinking: 'budget' | 'effort' | null;
  readonly quirks?: HostQuirks;
}

/** One host stream being read into events; after `finish` or `error` it emits nothing more. */
export interface StreamReader {
  frame(frame: SseFrame): void;
  /** The host ended its body in good order: emits what was still open, and `finish` if the answer was whole. */
  end(): void;
}
