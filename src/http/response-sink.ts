import type { ClientSink } from '../gateway/client-sink.ts';
import { SilenceLimit } from '../gateway/guards/silence.ts';
import type { OutboundResponse } from '../http1/server.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

export interface SinkTerms {
  readonly clock: Clock;
  /** How long a client may read nothing of what waits for it. */
  readonly stallMs: number;
  /** True once the process was told to stop: no connection is kept. */
  draining(): boolean;
}

/** The client as a real response. Its close, not the request's, says that nobody listens any more. */
export class ResponseSink implements ClientSink {
  readonly #response: OutboundResponse;
  readonly #terms: SinkTerms;
  #gone = false;
  #ended = false;
  #onGone: (() => void) | null = null;
  #onDrain: (() => void) | null = null;
  #stall: SilenceLimit | null = null;
  /** What is left of a large answer. */
  #rest: Buffer | null = null;

  constructor(response: OutboundResponse, terms: SinkTerms) {
    this.#response = response;
    this.#terms = terms;
    response.onClose = () => this.#closed();
    response.onDrain = () => this.#drained();
  }

  get gone(): boolean {
    return this.#gone || this.#response.destroyed;
  }

  get headSent(): boolean {
    return this.#response.headSent;
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone = listener;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  head(status: number, lines: string, length: number | null): void {
    if (this.#terms.draining()) this.#response.closes = true;
    this.#response.head(status, lines, length);
  }

  write(bytes: Buffer | string): boolean {
    return this.#response.write(bytes);
  }

  end(bytes: Buffer | string = ''): void {
    this.#ended = true;
    if (this.#terms.draining()) this.#response.closes = true;
    if (bytes.length <= LIMITS.responsePieceBytes) this.#response.end(bytes);
    else this.#endInPieces(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    if (!this.gone && (this.#rest !== null || this.#response.pendingBytes > 0)) this.#watchReader();
  }

  destroy(): void {
    this.#gone = true;
    this.#response.destroy();
  }

  /** A large answer waits here and not in the socket, where nobody could see whether the client reads. */
  #endInPieces(bytes: Buffer): void {
    this.#rest = bytes;
    for (;;) {
      const rest: Buffer = this.#rest;
      if (rest.length <= LIMITS.responsePieceBytes) {
        this.#rest = null;
        this.#response.end(rest);
        return;
      }
      this.#rest = rest.subarray(LIMITS.responsePieceBytes);
      if (!this.#response.write(rest.subarray(0, LIMITS.responsePieceBytes))) return;
    }
  }

  /** The exchange is over, but the connection and what waits in it must not be there for ever. */
  #watchReader(): void {
    const { clock, stallMs } = this.#terms;
    this.#stall = new SilenceLimit(clock, stallMs, () => {
      this.#stall?.stop();
      this.#response.destroy();
    });
  }

  #drained(): void {
    this.#stall?.touch();
    if (this.#rest !== null) this.#endInPieces(this.#rest);
    else this.#onDrain?.();
  }

  #closed(): void {
    this.#stall?.stop();
    if (this.#ended || this.#gone) return;
    this.#gone = true;
    this.#onGone?.();
    this.#onGone = null;
  }
}
