import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../kit/clock.ts';
import { inOnePiece } from '../../kit/one-piece.ts';
import { LIMITS } from '../../limits.ts';
import type { OutboundResponse } from '../server.ts';

const KEPT = inOnePiece(`connection: keep-alive\r\nkeep-alive: timeout=${LIMITS.clientKeepAliveMs / 1000}\r\n`);
const CLOSED = 'connection: close\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const NOTHING = Buffer.alloc(0);

/** What an answer must know of the request that it answers. */
export interface ResponseTerms {
  readonly socket: Socket;
  readonly clock: Clock;
  /** The client asked for a head alone. */
  readonly headOnly: boolean;
  /** It speaks the older HTTP, which knows no chunks and whose connections end with the answer. */
  readonly isOld: boolean;
  /** Runs once, when the last byte has left, or was given up. */
  answered(): void;
}

/** One answer on a connection: a head, then its body in one piece or in chunks, each in as few writes as can be. */
export class OwnResponse implements OutboundResponse {
  readonly #terms: ResponseTerms;
  /** Header lines that stand in this answer whatever its head is. */
  #lines = '';
  /** Written, and waiting for the first bytes of the body. */
  #head = '';
  #isChunked = false;
  #isBare: boolean;
  #isOver = false;
  headSent = false;
  /** The connection ends with this answer. */
  closes: boolean;
  /** The answer has left, or the connection has ended before it had; null once told. */
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;

  constructor(terms: ResponseTerms, closes: boolean) {
    this.#terms = terms;
    this.#isBare = terms.headOnly;
    this.closes = closes || terms.isOld;
  }

  /** The client cannot be reached any more. */
  get destroyed(): boolean {
    return this.#isOver || this.#terms.socket.destroyed;
  }

  /** Bytes that the client has not taken yet. */
  get pendingBytes(): number {
    return this.#terms.socket.writableLength;
  }

  /** Whatever the head will be, these stand in it. */
  addLines(lines: string): void {
    this.#lines += lines;
  }

  /** Leave to send the body that was announced. */
  giveLeave(): void {
    // The older HTTP knows no answer before the answer.
    if (!this.#terms.isOld) this.#terms.socket.write(CONTINUE, 'latin1');
  }

  /** Header lines as they are sent; `length` is the body's, null while nobody knows it. */
  head(status: number, lines: string, length: number | null): void {
    if (this.headSent) throw new Error('An answer has one head.');
    const { clock, isOld } = this.#terms;
    this.#isBare ||= status === 204 || status === 304;
    this.#isChunked = !this.#isBare && length === null && !isOld;
    const framing = this.#isChunked ? CHUNKED : length === null ? '' : `content-length: ${length}\r\n`;
    const connection = this.closes ? CLOSED : KEPT;
    this.#head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${this.#lines}${lines}${framing}${dateLine(clock)}${connection}\r\n`;
    this.headSent = true;
  }

  /** False when the client reads slower than we write. */
  write(bytes: Buffer | string): boolean {
    return this.#send(bytes, false);
  }

  end(bytes: Buffer | string = NOTHING): void {
    this.#send(bytes, true);
    const { socket } = this.#terms;
    if (socket.writableLength === 0) this.close();
    else socket.write(NOTHING, () => this.close());
  }

  /** Breaks the connection, so that nobody takes what came for the whole. */
  destroy(): void {
    this.#terms.socket.destroy();
  }

  /** The end of it, one way or the other. */
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

/** One write costs more than copying so little. */
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

/** Written once a second, for everyone. */
function dateLine(clock: Clock): string {
  const nowS = Math.floor(clock.nowMs() / 1000);
  if (nowS !== dateS) {
    dateS = nowS;
    date = inOnePiece(`date: ${new Date(nowS * 1000).toUTCString()}\r\n`);
  }
  return date;
}
