import type { GatewayError } from '../../canonical/errors.ts';
import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import type { PassedFrames } from '../../wires/frames/passed-frames.ts';
import type { HostError, StreamRelay } from '../../wires/wire.ts';

export interface VerbatimTerms {
  /** The wire's own reader of such streams; what it would write is not asked for. */
  readonly reader: StreamRelay;
  /** What the caller is told of an error inside the stream. */
  asCallersOwn(error: HostError): HostError;
  /** An error of ours, where the provider has said none. */
  writeError(error: GatewayError): string;
  /** A provider may quote the key it was called with. */
  hideKey(text: string): string;
}

/**
 * The stream of a caller's own deployment: every frame as the provider wrote it. It is read only to know its usage and
 * its end, for the last frame waits, like any host's, until the call is settled.
 */
export class VerbatimStream implements StreamRelay {
  readonly #terms: VerbatimTerms;
  readonly #lastWords: Buffer[] = [];
  #saidError = false;

  constructor(terms: VerbatimTerms) {
    this.#terms = terms;
  }

  repeated(bytes: Buffer, from: number): PassedFrames | null {
    const passed = this.#terms.reader.repeated?.(bytes, from) ?? null;
    return passed === null ? null : { end: passed.end, bytes: bytes.subarray(from, passed.end) };
  }

  frame(frame: SseFrame): Buffer | null {
    const { reader } = this.#terms;
    reader.frame(frame);
    // Nothing is said by a comment, and the client's head should not leave for it.
    if (frame.data === null) return null;
    if (!reader.terminal) return frame.raw;
    this.#saidError ||= reader.error !== null && isObject(tryParseJson(frame.data));
    this.#lastWords.push(frame.raw);
    return null;
  }

  get usage(): UsageReading {
    return withoutDefect(this.#terms.reader.usage);
  }

  get relayedBytes(): number {
    return this.#terms.reader.relayedBytes;
  }

  get terminal(): boolean {
    return this.#terms.reader.terminal;
  }

  get error(): HostError | null {
    const { error } = this.#terms.reader;
    return error === null ? null : this.#terms.asCallersOwn(error);
  }

  get mayEndHere(): boolean {
    return this.#terms.reader.mayEndHere;
  }

  /** Where the provider ended without a terminator, none is made up for it. */
  closing(): string {
    return this.#terms.hideKey(Buffer.concat(this.#lastWords).toString('utf8'));
  }

  failure(error: GatewayError): string {
    if (this.#saidError) return this.closing();
    return this.#terms.reader.failure?.(error) ?? this.#terms.writeError(error);
  }
}

/** What the provider counts is between it and the caller: counts that are none are no alarm of ours. */
export function withoutDefect(reading: UsageReading): UsageReading {
  return reading.state === 'missing' ? MISSING_USAGE : reading;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
