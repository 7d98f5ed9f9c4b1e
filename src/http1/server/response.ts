import type { Socket } from 'node:net';
import type { Clock } from '../../kit/clock.ts';
import { inOnePiece } from '../../kit/one-piece.ts';
import { STATUS_CODES } from '../../kit/platform-http.ts';
import { LIMITS } from '../../limits.ts';
import type { OutboundResponse } from '../server.ts';

const KEPT = inOnePiece(`connection: keep-alive\r\nkeep-alive: timeout=${LIMITS.clientKeepAliveMs / 1000}\r\n`);
const CLOSED = 'connection: close\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const NOTHING = Buffer.alloc(0);

/** What a response has to know of its request and connection. */
interface ResponseTerms {
  readonly socket: Socket;
  readonly clock: Clock;
  /** The request was a HEAD. */
  readonly headOnly: boolean;
  /** The client speaks HTTP/1.0: no chunks, and the connection ends with the response. */
  readonly isOld: boolean;
  /** Called when the rest of the response is only waiting for the client to read it. */
  unread(): void;
  /** Called once, when the last byte has left or the response was abandoned. */
  answered(): void;
}

/** Sends the head together with the first bytes of the body, and each chunk with its framing, in one write. */
export class OwnResponse implements OutboundResponse {
  readonly #terms: ResponseTerms;
  #lines = '';
  /** The head, until the first bytes of the body are sent with it. */
  #head = '';
  #isChunked = false;
  /** The length is known, so the whole body is too. */
  #isWhole = false;
  /** This response has no body, whatever is written. */
  #isBare: boolean;
  #isOver = false;
  headSent = false;
  closes: boolean;
  requestId: string | null = null;
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;

  constructor(terms: ResponseTerms, closes: boolean) {
    this.#terms = terms;
    this.#isBare = terms.headOnly;
    this.closes = closes || terms.isOld;
  }

  get destroyed(): boolean {
    return this.#isOver || this.#terms.socket.destroyed;
  }

  get pendingBytes(): number {
    return this.#terms.socket.writableLength;
  }

  addLines(lines: string): void {
    this.#lines += lines;
  }

  sendContinue(): void {
    // HTTP/1.0 has no interim responses.
    if (!this.#terms.isOld) this.#terms.socket.write(CONTINUE, 'latin1');
  }

  head(status: number, lines: string, length: number | null): void {
    if (this.headSent) throw new Error('The head of this response was already sent.');
    const { clock, isOld } = this.#terms;
    this.#isBare ||= status === 204 || status === 304;
    this.#isChunked = !this.#isBare && length === null && !isOld;
    this.#isWhole = length !== null;
    const framing = this.#isChunked ? CHUNKED : length === null ? '' : `content-length: ${length}\r\n`;
    const connection = this.closes ? CLOSED : KEPT;
    this.#head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${this.#lines}${lines}${framing}${dateLine(clock)}${connection}\r\n`;
    this.headSent = true;
  }

  write(bytes: Buffer | string): boolean {
    const hasRoom = this.#send(bytes, false);
    if (!hasRoom && this.#isWhole) this.#terms.unread();
    return hasRoom;
  }

  end(bytes: Buffer | string = NOTHING): void {
    this.#send(bytes, true);
    const { socket } = this.#terms;
    if (socket.writableLength === 0) {
      this.close();
      return;
    }
    this.#terms.unread();
    socket.write(NOTHING, () => this.close());
  }

  destroy(): void {
    this.#terms.socket.destroy();
  }

  /** The response is over, sent or not. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#terms.answered();
    this.onClose?.();
    this.onClose = null;
    this.onDrain = null;
  }

  #send(bytes: Buffer | string, isLast: boolean): boolean {
    if (this.destroyed) return true;
    const head = this.#head;
    this.#head = '';
    const body = this.#isBare ? NOTHING : bytes;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const isFramed = this.#isChunked && length > 0;
    const before = isFramed ? `${head}${length.toString(16)}\r\n` : head;
    const after = `${isFramed ? '\r\n' : ''}${this.#isChunked && isLast ? LAST_CHUNK : ''}`;
    const { socket } = this.#terms;
    if (length <= LIMITS.responseJoinedBytesMax) return socket.write(joined(before, body, length, after));
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    const hasRoom = socket.write(body);
    if (after !== '') socket.write(after, 'latin1');
    socket.uncork();
    return hasRoom;
  }
}

/** Joins small pieces: copying them costs less than a second write. */
function joined(before: string, body: Buffer | string, length: number, after: string): Buffer {
  const bytes = Buffer.allocUnsafe(before.length + length + after.length);
  bytes.write(before, 0, 'latin1');
  if (typeof body === 'string') bytes.write(body, before.length, 'utf8');
  else body.copy(bytes, before.length);
  if (after !== '') bytes.write(after, before.length + length, 'latin1');
  return bytes;
}

let dateS = 0;
let date = '';

/** Formatted once a second, for all responses. */
function dateLine(clock: Clock): string {
  const nowS = Math.floor(clock.nowMs() / 1000);
  if (nowS !== dateS) {
    dateS = nowS;
    date = inOnePiece(`date: ${new Date(nowS * 1000).toUTCString()}\r\n`);
  }
  return date;
}
