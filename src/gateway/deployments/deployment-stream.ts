import type { GatewayError } from '../../canonical/errors.ts';
import { areCounts, MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { tryParseJson } from '../../json/json.ts';
import { heapBytesOfJson } from '../../json/weight.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import type { PassedFrames } from '../../wires/frames/passed-frames.ts';
import type { HostError, StreamRelay } from '../../wires/wire.ts';

interface VerbatimTerms {
  /** The wire's reader for such streams. Only what it reads is used, not what it writes. */
  readonly reader: StreamRelay;
  /** Throws if a frame takes too long to read. */
  checkWork(frame: Buffer): void;
  /** Turns an error inside the stream into the one that the caller gets. */
  asCallersOwn(error: HostError): HostError;
  /** Writes an error of ours, if the provider sent none. */
  writeError(error: GatewayError): string;
  /** Removes the provider's key from its text: providers sometimes quote it. */
  hideKey(text: string): string;
}

/**
 * The stream of a caller's own deployment: every frame as the provider wrote it. It is parsed only to find its usage and
 * its end, because the last frame is withheld until the call is settled.
 */
export class VerbatimStream implements StreamRelay {
  readonly #terms: VerbatimTerms;
  readonly #lastWords: Buffer[] = [];
  #saidError = false;
  /** Of the largest frame: its usage, or the response that it describes, may be kept until a later frame has one. */
  #frameBytes = 0;

  constructor(terms: VerbatimTerms) {
    this.#terms = terms;
  }

  repeated(bytes: Buffer, from: number): PassedFrames | null {
    const passed = this.#terms.reader.repeated?.(bytes, from) ?? null;
    return passed === null ? null : { end: passed.end, bytes: bytes.subarray(from, passed.end) };
  }

  frame(frame: SseFrame): Buffer | null {
    const { reader, checkWork } = this.#terms;
    checkWork(frame.raw);
    // Nothing of a comment is kept.
    if (frame.raw.length > LIMITS.deploymentWorkFreeBytes && frame.data !== null)
      this.#frameBytes = Math.max(this.#frameBytes, heapBytesOfJson(frame.raw));
    reader.frame(frame);
    // A comment has no content, and must not cause the client's response head to be sent.
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

  get keptBytes(): number {
    return this.#frameBytes + (this.#terms.reader.keptBytes ?? 0);
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

  /** If the provider sent no terminator, none is added. */
  closing(): string {
    return this.#terms.hideKey(Buffer.concat(this.#lastWords).toString('utf8'));
  }

  failure(error: GatewayError): string {
    if (this.#saidError) return this.closing();
    return this.#terms.reader.failure?.(error) ?? this.#terms.writeError(error);
  }
}

/** The caller pays the provider, so invalid counts raise no alarm here. */
export function withoutDefect(reading: UsageReading): UsageReading {
  return reading.state === 'missing' || !areCounts(reading.usage) ? MISSING_USAGE : reading;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
