import type { ServerResponse } from 'node:http';
import type { ClientSink } from '../gateway/client-sink.ts';
import { SilenceLimit } from '../gateway/silence.ts';
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
  readonly #response: ServerResponse;
  readonly #terms: SinkTerms;
  #gone = false;
  #ended = false;
  #onGone: (() => void)[] = [];
  #stall: SilenceLimit | null = null;

  constructor(response: ServerResponse, terms: SinkTerms) {
    this.#response = response;
    this.#terms = terms;
    response.on('close', () => this.#closed());
    response.on('error', () => this.#closed());
  }

  get gone(): boolean {
    return this.#gone || this.#response.destroyed;
  }

  get headSent(): boolean {
    return this.#response.headersSent;
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone.push(listener);
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  head(status: number, headers: Record<string, string>): void {
    this.#response.writeHead(status, headers);
  }

  write(bytes: Buffer | string): boolean {
    return this.#response.write(bytes);
  }

  end(bytes: Buffer | string = ''): void {
    this.#ended = true;
    const { socket } = this.#response;
    if (this.#terms.draining()) this.#response.once('finish', () => socket?.destroySoon());
    if (bytes.length <= LIMITS.responsePieceBytes) this.#response.end(bytes);
    else this.#endInPieces(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, 0);
    if (this.#response.writableLength === 0 || this.gone) return;
    // Until it is this answer's turn, it is not the client who keeps it waiting.
    if (this.#response.socket === null) this.#response.once('socket', () => this.#watchReader());
    else this.#watchReader();
  }

  destroy(): void {
    this.#gone = true;
    this.#response.destroy();
  }

  /** A large answer waits here and not in the socket, where nobody could see whether the client reads. */
  #endInPieces(bytes: Buffer, from: number): void {
    if (bytes.length - from <= LIMITS.responsePieceBytes) {
      this.#response.end(bytes.subarray(from));
      return;
    }
    const to = from + LIMITS.responsePieceBytes;
    if (this.#response.write(bytes.subarray(from, to))) this.#endInPieces(bytes, to);
    else this.#response.once('drain', () => this.#endInPieces(bytes, to));
  }

  /** The exchange is over, but the connection and what waits in it must not be there for ever. */
  #watchReader(): void {
    const { clock, stallMs } = this.#terms;
    const stall = new SilenceLimit(clock, stallMs, () => {
      stall.stop();
      this.#response.destroy();
    });
    this.#response.on('drain', () => stall.touch());
    this.#stall = stall;
  }

  #closed(): void {
    this.#stall?.stop();
    if (this.#ended || this.#gone) return;
    this.#gone = true;
    for (const listener of this.#onGone) listener();
    this.#onGone = [];
  }
}
