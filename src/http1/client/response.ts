import type { IncomingHttpHeaders } from 'node:http';
import { Http1Body } from '../body.ts';
import { KnownHead } from './known-head.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const INTERIM_RESPONSES_MAX = 10;

/** Reads a host's answer as it arrives. Anything that the grammar does not allow breaks it. */
export class Http1Response {
  readonly #onHead: (status: number, headers: IncomingHttpHeaders) => void;
  readonly #headBytesMax: number;
  readonly #knownHead: KnownHead;
  /** The bytes of a head whose end has not arrived yet. */
  #begun: Buffer | null = null;
  /** Null until the head is read. */
  #body: Http1Body | null = null;
  #interim = 0;
  #broken: string | null = null;
  /** At least one byte has arrived. */
  begun = false;
  /** True if the head allows another request on this connection. */
  keepsConnection = false;
  /** How long the host keeps an idle connection; null if it did not say. */
  keepAliveMs: number | null = null;
  /** More bytes came than belong to the answer. */
  excess = false;

  /** With the connection's last head, if there was one. */
  constructor(
    headBytesMax: number,
    onHead: (status: number, headers: IncomingHttpHeaders) => void,
    knownHead = new KnownHead(),
  ) {
    this.#headBytesMax = headBytesMax;
    this.#knownHead = knownHead;
    this.#onHead = onHead;
  }

  /** Why the answer is malformed; null while it is not. */
  get broken(): string | null {
    return this.#broken ?? this.#body?.broken ?? null;
  }

  get over(): boolean {
    return this.#body?.over === true;
  }

  /** True if the answer would be complete if the connection ended now. */
  endsHere(): boolean {
    return this.#body?.mayEndHere === true;
  }

  /** Takes over the bytes of one read and returns the body bytes in them. */
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

  /** Continues with a head and returns where it stopped. */
  #head(bytes: Buffer, at: number): number {
    const begun = this.#begun;
    const all = begun === null ? (at === 0 ? bytes : bytes.subarray(at)) : Buffer.concat([begun, bytes.subarray(at)]);
    const end = all.indexOf(HEAD_END);
    if (end === -1 ? all.length > this.#headBytesMax : end > this.#headBytesMax) {
      this.#broken = 'The head of the response is too large.';
      return bytes.length;
    }
    if (end === -1) {
      this.#begun = all;
      return bytes.length;
    }
    this.#begun = null;
    this.#takeHead(all, end);
    return bytes.length - (all.length - end - HEAD_END.length);
  }

  #takeHead(bytes: Buffer, length: number): void {
    const head = this.#knownHead.read(bytes, length);
    if (typeof head === 'string') {
      this.#broken = head;
      return;
    }
    if (head.status < 200) {
      if (++this.#interim > INTERIM_RESPONSES_MAX) this.#broken = 'The host sent too many interim responses.';
      return;
    }
    this.keepsConnection = head.keepsConnection;
    this.keepAliveMs = head.keepAliveMs;
    this.#body = new Http1Body(head.framing, this.#headBytesMax);
    this.#onHead(head.status, head.headers);
  }
}
