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
/** A body of the largest size that is joined, and its head. */
const WORKSPACE_BYTES = LIMITS.responseJoinedBytesMax + 4 * 1024;

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
    if (length <= LIMITS.responseJoinedBytesMax) return writeJoined(socket, { before, body, length, after });
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    const hasRoom = socket.write(body);
    if (after !== '') socket.write(after, 'latin1');
    socket.uncork();
    return hasRoom;
  }
}

interface FramedBody {
  readonly before: string;
  readonly body: Buffer | string;
  /** Bytes of the body. */
  readonly length: number;
  readonly after: string;
}

/** Where small responses are joined. The system mostly takes one at once, and then the next one is joined in the same memory. */
let workspace = Buffer.allocUnsafeSlow(WORKSPACE_BYTES);

/** Joins small pieces: copying them costs less than a second write. */
function writeJoined(socket: Socket, framed: FramedBody): boolean {
  const length = framed.before.length + framed.length + framed.after.length;
  const isWorkspace = length <= workspace.length && socket.writableLength === 0;
  const bytes = isWorkspace ? workspace.subarray(0, length) : Buffer.allocUnsafe(length);
  join(framed, bytes);
  const hasRoom = socket.write(bytes);
  // The socket still reads the rest from there.
  if (isWorkspace && socket.writableLength > 0) workspace = Buffer.allocUnsafeSlow(WORKSPACE_BYTES);
  return hasRoom;
}

function join({ before, body, length, after }: FramedBody, bytes: Buffer): void {
  bytes.write(before, 0, 'latin1');
  if (typeof body === 'string') bytes.write(body, before.length, 'utf8');
  else body.copy(bytes, before.length);
  if (after !== '') bytes.write(after, before.length + length, 'latin1');
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
