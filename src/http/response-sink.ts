import type { ClientSink } from '../gateway/client-sink.ts';
import type { ResponseRoom } from '../gateway/guards/response-room.ts';
import { SilenceLimit } from '../gateway/guards/silence-limit.ts';
import type { OutboundResponse } from '../http1/server.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

export interface SinkTerms {
  readonly clock: Clock;
  /** How long a client may read nothing while bytes are pending. */
  readonly stallMs: number;
  /** True once the process is stopping: connections are closed after their response. */
  draining(): boolean;
}

/** The client of a call, over an HTTP response. The close of the response, not of the request, means that the client is gone. */
export class ResponseSink implements ClientSink {
  readonly #response: OutboundResponse;
  readonly #terms: SinkTerms;
  readonly room: ResponseRoom;
  #gone = false;
  #ended = false;
  #onGone: (() => void) | null = null;
  #onDrain: (() => void) | null = null;
  #stall: SilenceLimit | null = null;
  /** The rest of a large response. */
  #rest: Buffer | null = null;

  constructor(response: OutboundResponse, terms: SinkTerms, room: ResponseRoom) {
    this.#response = response;
    this.#terms = terms;
    this.room = room;
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
    const hasRoom = this.#response.write(bytes);
    if (!hasRoom) this.room.leaveUnread(this.#response.pendingBytes);
    return hasRoom;
  }

  end(bytes: Buffer | string = ''): void {
    this.#ended = true;
    this.#forgetCall();
    if (this.#terms.draining()) this.#response.closes = true;
    if (bytes.length <= LIMITS.responsePieceBytes) this.#response.end(bytes);
    else this.#endInPieces(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    const unreadBytes = this.gone ? 0 : (this.#rest?.length ?? 0) + this.#response.pendingBytes;
    this.room.end(unreadBytes);
    if (unreadBytes > 0) this.#watchReader();
  }

  /** Ends the count of a response that was not sent, because its client is gone. */
  callEnds(): void {
    if (!this.#ended) this.room.end(0);
  }

  /** A listener refers to its whole call, and this sink outlives the call in the old heap: see docs/decisions/0016. */
  #forgetCall(): void {
    this.#onGone = null;
    this.#onDrain = null;
  }

  destroy(): void {
    this.#gone = true;
    this.#response.destroy();
  }

  /** Keeps a large response here instead of in the socket, so that a client that does not read is noticed. */
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

  /** The call is over, but its pending bytes must not stay in memory for a client that never reads them. */
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
    else {
      this.room.leaveUnread(0);
      this.#onDrain?.();
    }
  }

  #closed(): void {
    this.#stall?.stop();
    this.room.leaveUnread(0);
    if (this.#ended || this.#gone) return;
    this.#gone = true;
    this.#onGone?.();
    this.#onGone = null;
  }
}
