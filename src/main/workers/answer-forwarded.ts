import type { MessagePort } from 'node:worker_threads';
import type { Answer, BodyReader, InboundRequest, OutboundResponse } from '../../http1/server.ts';
import { LIMITS } from '../../limits.ts';
import { type FromFirst, lengthOf, ownBytes, type RequestHead, sendTo, type ToFirst } from './forwarded.ts';

/** Answers the requests that another worker forwards over this port. */
export function answerForwarded(port: MessagePort, answer: Answer): void {
  const send = sendTo<FromFirst>(port);
  const open = new Map<number, Forwarded>();
  port.on('message', (message: ToFirst) => {
    if (message.kind !== 'request') {
      open.get(message.id)?.receive(message);
      if (message.kind === 'closed') open.delete(message.id);
      return;
    }
    const forwarded = new Forwarded(message.id, message.head, message.body, send);
    open.set(message.id, forwarded);
    answer(forwarded.request, forwarded.response);
  });
}

class Forwarded {
  readonly request: ForwardedRequest;
  readonly response: ForwardedResponse;

  constructor(id: number, head: RequestHead, body: Uint8Array | null, send: (message: FromFirst) => void) {
    this.request = new ForwardedRequest(id, head, body, send);
    this.response = new ForwardedResponse(id, send);
  }

  receive(message: Exclude<ToFirst, { kind: 'request' }>): void {
    if (message.kind === 'data') this.request.take(Buffer.from(message.bytes.buffer));
    else if (message.kind === 'body_ended') this.request.finish();
    else if (message.kind === 'body_failed') this.request.breakOff();
    else if (message.kind === 'taken') this.response.taken(message.bytes);
    else {
      this.request.breakOff();
      this.response.close();
    }
  }
}

/** A request that another worker received. */
class ForwardedRequest implements InboundRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly peerAddress: string | null;
  readonly #acknowledge: (bytes: number) => void;
  #reader: BodyReader | null = null;
  #unread: Buffer[] = [];
  #isPaused = false;
  #isBroken = false;
  #hasEnded = false;

  constructor(id: number, head: RequestHead, body: Uint8Array | null, send: (message: FromFirst) => void) {
    this.method = head.method;
    this.url = head.url;
    this.httpVersionMajor = head.httpVersionMajor;
    this.httpVersionMinor = head.httpVersionMinor;
    this.rawHeaders = head.rawHeaders;
    this.headers = head.headers;
    this.peerAddress = head.peerAddress;
    this.#acknowledge = (bytes) => send({ id, kind: 'read', bytes });
    if (body === null) return;
    this.#hasEnded = true;
    if (body.length > 0) this.#unread.push(Buffer.from(body.buffer));
  }

  get complete(): boolean {
    return this.#hasEnded;
  }

  takeWhole(): Buffer | null {
    if (!this.#hasEnded || this.#reader !== null) return null;
    const pieces = this.#unread;
    this.#unread = [];
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#isPaused = false;
    this.#deliver();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  take(piece: Buffer): void {
    this.#unread.push(piece);
    this.#deliver();
  }

  finish(): void {
    this.#hasEnded = true;
    this.#deliver();
  }

  /** The rest of the body will never arrive. */
  breakOff(): void {
    if (this.#hasEnded || this.#isBroken) return;
    this.#isBroken = true;
    this.#deliver();
  }

  #deliver(): void {
    while (this.#reader !== null && !this.#isPaused && this.#unread.length > 0) {
      const piece = this.#unread.shift()!;
      this.#reader.data(piece);
      this.#acknowledge(piece.length);
    }
    if (this.#reader === null || this.#unread.length > 0) return;
    if (this.#hasEnded) this.#reader.end();
    else if (this.#isBroken) this.#reader.failed();
    else return;
    this.#reader = NOBODY;
  }
}

const NOBODY: BodyReader = { data: () => {}, end: () => {}, failed: () => {} };

/** The response to it, which that worker sends. */
class ForwardedResponse implements OutboundResponse {
  readonly #id: number;
  readonly #send: (message: FromFirst) => void;
  #lines = '';
  #isOver = false;
  #isFull = false;
  headSent = false;
  pendingBytes = 0;
  closes = false;
  requestId: string | null = null;
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;

  constructor(id: number, send: (message: FromFirst) => void) {
    this.#id = id;
    this.#send = send;
  }

  get destroyed(): boolean {
    return this.#isOver;
  }

  addLines(lines: string): void {
    this.#lines += lines;
  }

  sendContinue(): void {
    this.#send({ id: this.#id, kind: 'continue' });
  }

  head(status: number, lines: string, length: number | null): void {
    if (this.headSent) throw new Error('The head of this response was already sent.');
    this.headSent = true;
    this.#send({ id: this.#id, kind: 'head', status, lines: this.#lines + lines, length, closes: this.closes });
  }

  write(bytes: Buffer | string): boolean {
    if (this.#isOver) return true;
    this.pendingBytes += lengthOf(bytes);
    this.#send({ id: this.#id, kind: 'write', bytes: ownBytes(bytes) });
    this.#isFull = this.pendingBytes > LIMITS.workerWindowBytes;
    return !this.#isFull;
  }

  end(bytes: Buffer | string = ''): void {
    if (this.#isOver) return;
    this.#send({ id: this.#id, kind: 'end', bytes: ownBytes(bytes), closes: this.closes });
  }

  destroy(): void {
    this.#send({ id: this.#id, kind: 'destroy' });
  }

  taken(bytes: number): void {
    this.pendingBytes -= bytes;
    if (!this.#isFull || this.pendingBytes > LIMITS.workerWindowBytes) return;
    this.#isFull = false;
    this.onDrain?.();
  }

  /** The response is over, sent or not. */
  close(): void {
    this.#isOver = true;
    this.onClose?.();
    this.onClose = null;
    this.onDrain = null;
  }
}
