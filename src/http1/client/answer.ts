import type { IncomingHttpHeaders } from 'node:http';
import { Http1Body } from '../body.ts';
import { readAnswerHead } from './answer-head.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const INTERIM_ANSWERS_MAX = 10;

/** A host's answer, taken in as it arrives and read strictly: what departs from the letter breaks it. */
export class Http1Answer {
  readonly #onHead: (status: number, headers: IncomingHttpHeaders) => void;
  readonly #headBytesMax: number;
  /** The begun head, while its end has not come. */
  #begun: Buffer | null = null;
  /** Null before the head. */
  #body: Http1Body | null = null;
  #interim = 0;
  #broken: string | null = null;
  /** At least one byte has arrived. */
  begun = false;
  /** The host keeps the connection, as far as its head says. */
  keepsConnection = false;
  /** For how long it said it would; null if it said nothing. */
  keepAliveMs: number | null = null;
  /** More came than the answer: nobody knows what it belongs to. */
  excess = false;

  constructor(headBytesMax: number, onHead: (status: number, headers: IncomingHttpHeaders) => void) {
    this.#headBytesMax = headBytesMax;
    this.#onHead = onHead;
  }

  /** Why this is no answer; null while all is well. */
  get broken(): string | null {
    return this.#broken ?? this.#body?.broken ?? null;
  }

  get over(): boolean {
    return this.#body?.over === true;
  }

  /** The connection has ended; true if that is how this answer ends too. */
  endsHere(): boolean {
    return this.#body?.mayEndHere === true;
  }

  /** Takes what one read gave, for good, and returns what of the body was in it. */
  read(bytes: Buffer): Buffer | null {
    this.begun = true;
    let at = 0;
    while (this.#body === null && this.#broken === null && at < bytes.length) at = this.#head(bytes, at);
    const body = this.#body;
    if (body === null || at === bytes.length) return null;
    at = body.read(bytes, at);
    if (body.over && at < bytes.length) this.excess = true;
    return body.takePiece(bytes);
  }

  /** Reads a head on from there and returns how far it came. */
  #head(bytes: Buffer, at: number): number {
    const begun = this.#begun;
    const all = begun === null ? (at === 0 ? bytes : bytes.subarray(at)) : Buffer.concat([begun, bytes.subarray(at)]);
    const end = all.indexOf(HEAD_END);
    if (end === -1 ? all.length > this.#headBytesMax : end > this.#headBytesMax) {
      this.#broken = 'The head of the answer is too large.';
      return bytes.length;
    }
    if (end === -1) {
      this.#begun = all;
      return bytes.length;
    }
    this.#begun = null;
    this.#takeHead(all.toString('latin1', 0, end));
    return bytes.length - (all.length - end - HEAD_END.length);
  }

  #takeHead(text: string): void {
    const head = readAnswerHead(text);
    if (typeof head === 'string') {
      this.#broken = head;
      return;
    }
    if (head.status < 200) {
      if (++this.#interim > INTERIM_ANSWERS_MAX) this.#broken = 'The host sends one interim answer after another.';
      return;
    }
    this.keepsConnection = head.keepsConnection;
    this.keepAliveMs = head.keepAliveMs;
    this.#body = new Http1Body(head.framing, this.#headBytesMax);
    this.#onHead(head.status, head.headers);
  }
}
