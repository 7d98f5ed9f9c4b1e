import type { IncomingHttpHeaders } from 'node:http';
import { readAnswerHead } from './http1-head.ts';

/** Where in an answer the next byte stands. */
type Phase = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-close' | 'over';

const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;
const SEMICOLON = 59;
/** More would be no chunk that fits into anything. */
const CHUNK_DIGITS_MAX = 8;
const INTERIM_ANSWERS_MAX = 10;

/**
 * A host's answer as HTTP/1.1 frames it, taken in as it arrives and read strictly: what departs from the letter breaks
 * the answer, because a guess about where it ends would be a guess about what was said.
 */
export class Http1Answer {
  readonly #onHead: (status: number, headers: IncomingHttpHeaders) => void;
  readonly #headBytesMax: number;
  #phase: Phase = 'head';
  /** The begun head, while its end has not come. */
  #begun: Buffer | null = null;
  /** Bytes still to come of the body, or of the chunk. */
  #left = 0;
  /** Bytes of the size line or of the trailers so far; both are bounded. */
  #lineBytes = 0;
  #sawCr = false;
  #inExtension = false;
  #interim = 0;
  #pieces: Buffer[] = [];
  /** Why this is no answer; null while all is well. */
  broken: string | null = null;
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

  get over(): boolean {
    return this.#phase === 'over';
  }

  /** The connection has ended; true if that is how this answer ends too. */
  endsHere(): boolean {
    return this.#phase === 'over' || this.#phase === 'until-close';
  }

  /** Takes what one read gave and returns the pieces of the body that were in it. */
  read(bytes: Buffer): readonly Buffer[] {
    this.#pieces = [];
    let at = 0;
    while (at < bytes.length && this.broken === null) at = this.#step(bytes, at);
    return this.#pieces;
  }

  /** Reads on from there and returns how far it came. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#phase) {
      case 'chunk':
        return this.#chunk(bytes, at);
      case 'chunk-size':
        return this.#chunkSize(bytes, at);
      case 'chunk-end':
        return this.#chunkEnd(bytes, at);
      case 'head':
        return this.#head(bytes, at);
      case 'length':
        return this.#length(bytes, at);
      case 'until-close':
        this.#pieces.push(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'trailers':
        return this.#trailers(bytes, at);
      case 'over':
        this.excess = true;
        return bytes.length;
    }
  }

  #break(words: string): number {
    this.broken = words;
    return 0;
  }

  #head(bytes: Buffer, at: number): number {
    const begun = this.#begun;
    const all = begun === null ? (at === 0 ? bytes : bytes.subarray(at)) : Buffer.concat([begun, bytes.subarray(at)]);
    const end = all.indexOf(HEAD_END);
    if (end === -1 ? all.length > this.#headBytesMax : end > this.#headBytesMax) {
      return this.#break('The head of the answer is too large.');
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
      this.#break(head);
      return;
    }
    if (head.status < 200) {
      if (++this.#interim > INTERIM_ANSWERS_MAX) this.#break('The host sends one interim answer after another.');
      return;
    }
    this.keepsConnection = head.keepsConnection;
    this.keepAliveMs = head.keepAliveMs;
    const { framing } = head;
    if (framing === 'chunked') this.#phase = 'chunk-size';
    else if (framing === 'until-close') this.#phase = 'until-close';
    else if (framing === 0) this.#phase = 'over';
    else {
      this.#phase = 'length';
      this.#left = framing;
    }
    this.#onHead(head.status, head.headers);
  }

  #length(bytes: Buffer, at: number): number {
    const to = this.#piece(bytes, at);
    if (this.#left === 0) this.#phase = 'over';
    return to;
  }

  #chunk(bytes: Buffer, at: number): number {
    const to = this.#piece(bytes, at);
    if (this.#left === 0) this.#phase = 'chunk-end';
    return to;
  }

  /** As much of what is still to come as there is. */
  #piece(bytes: Buffer, at: number): number {
    const to = Math.min(at + this.#left, bytes.length);
    this.#left -= to - at;
    this.#pieces.push(at === 0 && to === bytes.length ? bytes : bytes.subarray(at, to));
    return to;
  }

  #chunkSize(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#sawCr) return byte === LF ? this.#sizeRead(at + 1) : this.#break(CHUNK_WORDS);
      if (byte === CR) this.#sawCr = true;
      else if (this.#inExtension) {
        if (++this.#lineBytes > this.#headBytesMax || byte === LF) return this.#break(CHUNK_WORDS);
      } else if (byte === SEMICOLON && this.#lineBytes > 0) this.#inExtension = true;
      else {
        const digit = HEX[byte]!;
        if (digit === NO_DIGIT || ++this.#lineBytes > CHUNK_DIGITS_MAX) return this.#break(CHUNK_WORDS);
        this.#left = this.#left * 16 + digit;
      }
    }
    return bytes.length;
  }

  #sizeRead(at: number): number {
    if (this.#lineBytes === 0) return this.#break(CHUNK_WORDS);
    this.#sawCr = false;
    this.#inExtension = false;
    this.#lineBytes = 0;
    this.#phase = this.#left === 0 ? 'trailers' : 'chunk';
    return at;
  }

  #chunkEnd(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      if (bytes[at] !== (this.#sawCr ? LF : CR)) return this.#break(CHUNK_WORDS);
      if (this.#sawCr) {
        this.#sawCr = false;
        this.#phase = 'chunk-size';
        return at + 1;
      }
      this.#sawCr = true;
    }
    return bytes.length;
  }

  /** Nothing in them is wanted; an empty line ends them and the answer. */
  #trailers(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#sawCr) {
        if (byte !== LF) return this.#break('The answer ends in a broken trailer.');
        this.#sawCr = false;
        if (this.#left === 0) {
          this.#phase = 'over';
          return at + 1;
        }
        this.#left = 0;
      } else if (byte === CR) this.#sawCr = true;
      else {
        this.#left++;
        if (++this.#lineBytes > this.#headBytesMax) return this.#break('The trailers of the answer are too large.');
      }
    }
    return bytes.length;
  }
}

const CHUNK_WORDS = 'The answer is broken into chunks in a way that HTTP does not know.';

const NO_DIGIT = 255;
const HEX = new Uint8Array(256).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) {
  const letter = digit.toString(16);
  HEX[letter.charCodeAt(0)] = digit;
  HEX[letter.toUpperCase().charCodeAt(0)] = digit;
}
