import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';
import type { BodyReader, InboundRequest, OutboundResponse } from './server.ts';

/** A request that node:http has parsed. */
export class NodeRequest implements InboundRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly #message: IncomingMessage;
  readonly #isBodyless: boolean;
  #reader: BodyReader | null = null;
  #isListening = false;
  #isBroken = false;
  #hasEnded = false;
  #skippedBytes = 0;
  /** Called when a body that someone reads has arrived whole. */
  onEnd: (() => void) | null = null;

  constructor(message: IncomingMessage) {
    this.method = message.method ?? '';
    this.url = message.url ?? '';
    this.httpVersionMajor = message.httpVersionMajor;
    this.httpVersionMinor = message.httpVersionMinor;
    this.rawHeaders = message.rawHeaders;
    this.headers = joinHeaders(message.rawHeaders);
    this.#message = message;
    this.#isBodyless = !(Number(this.headers['content-length']) > 0) && !('transfer-encoding' in this.headers);
    message.on('error', () => this.breakOff());
  }

  get complete(): boolean {
    return this.#isBodyless || this.#message.complete;
  }

  get peerAddress(): string | null {
    return this.#message.socket.remoteAddress ?? null;
  }

  takeWhole(): Buffer | null {
    if (!this.complete || this.#isListening) return null;
    // From Node 26 on, a read returns one buffer of several.
    const pieces: Buffer[] = [];
    for (let piece = this.#nextPiece(); piece !== null; piece = this.#nextPiece()) pieces.push(piece);
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  #nextPiece(): Buffer | null {
    return this.#message.read() as Buffer | null;
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    if (this.#hasEnded) reader.end();
    else if (this.#isBroken) reader.failed();
    else this.#listen();
  }

  /** Reads and discards the rest; a client that sends more than the limit loses its connection. */
  skipRest(): void {
    const data = (piece: Buffer): void => {
      this.#skippedBytes += piece.length;
      if (this.#skippedBytes > LIMITS.forgottenBodyBytesMax) this.#message.destroy();
    };
    this.read({ data, end: () => {}, failed: () => {} });
  }

  /** The rest of the body will never arrive. */
  breakOff(): void {
    if (this.complete || this.#isBroken) return;
    this.#isBroken = true;
    this.#reader?.failed();
  }

  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  #listen(): void {
    if (this.#isListening) {
      this.#message.resume();
      return;
    }
    this.#isListening = true;
    this.#message.on('data', (piece: Buffer) => this.#reader?.data(piece));
    this.#message.on('end', () => {
      this.#hasEnded = true;
      this.onEnd?.();
      this.#reader?.end();
    });
  }
}

/** As our own parser joins them; node:http would drop some repeated headers and make lists of others. */
function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const before = headers[name];
    headers[name] = before === undefined ? rawHeaders[at + 1]! : `${before}, ${rawHeaders[at + 1]!}`;
  }
  return headers;
}

interface ResponseEvents {
  /** The rest of the response is only waiting for the client to read it. */
  unread(): void;
  /** Called once, when the last byte has left or the response was abandoned. */
  answered(): void;
}

/** A response that node:http writes. */
export class NodeResponse implements OutboundResponse {
  readonly #request: NodeRequest;
  readonly #message: ServerResponse;
  readonly #socket: Socket;
  readonly #isOld: boolean;
  /** Null once the response is over. */
  #events: ResponseEvents | null;
  #lines = '';
  /** The length is known, so the whole body is too. */
  #isWhole = false;
  headSent = false;
  closes: boolean;
  requestId: string | null = null;
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;

  constructor(request: NodeRequest, message: ServerResponse, socket: Socket, events: ResponseEvents) {
    this.#request = request;
    this.#message = message;
    this.#socket = socket;
    this.#events = events;
    this.#isOld = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
    this.closes = this.#isOld || !message.shouldKeepAlive;
    message.on('drain', () => this.onDrain?.());
    message.on('close', () => this.close());
    message.on('error', () => {});
  }

  get destroyed(): boolean {
    return this.#events === null || this.#socket.destroyed;
  }

  get pendingBytes(): number {
    return this.#message.writableLength;
  }

  addLines(lines: string): void {
    this.#lines += lines;
  }

  sendContinue(): void {
    if (!this.#isOld && !this.destroyed) this.#message.writeContinue();
  }

  head(status: number, lines: string, length: number | null): void {
    if (this.headSent) throw new Error('The head of this response was already sent.');
    this.headSent = true;
    this.#isWhole = length !== null;
    if (this.destroyed) return;
    const headers = splitLines(this.#lines + lines);
    if (length !== null) headers.push('content-length', String(length));
    if (this.closes) headers.push('connection', 'close');
    this.#message.writeHead(status, headers);
  }

  write(bytes: Buffer | string): boolean {
    if (this.destroyed) return true;
    if (bytes.length === 0) {
      this.#message.flushHeaders();
      return true;
    }
    // Node 26 limits bytes here but characters in the socket: a refused text may leave no 'drain' to wait for.
    const hasRoom = this.#message.write(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    if (!hasRoom && this.#isWhole) this.#events?.unread();
    return hasRoom;
  }

  end(bytes: Buffer | string = ''): void {
    if (this.destroyed) return;
    if (!this.#request.complete) this.#request.skipRest();
    this.#message.end(bytes);
    if (this.pendingBytes > 0) this.#events?.unread();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** The response is over, sent or not. */
  close(): void {
    const events = this.#events;
    if (events === null) return;
    this.#events = null;
    events.answered();
    this.onClose?.();
    this.onClose = null;
    this.onDrain = null;
  }
}

/** Complete header lines as the flat list of names and values that node:http takes. */
function splitLines(lines: string): string[] {
  const headers: string[] = [];
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon !== -1) headers.push(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
