/** How the body of a message ends: after so many bytes, with its last chunk, or with the connection. */
export type BodyFraming = number | 'chunked' | 'until-close';

/** Where in a body the next byte stands. */
type Phase = 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-close' | 'over';

const CR = 13;
const LF = 10;
const COLON = 58;
const SEMICOLON = 59;
/** More would be no chunk that fits into anything. */
const CHUNK_DIGITS_MAX = 8;

/**
 * The body of a message as HTTP/1.1 frames it, taken in as it arrives, for good, and read strictly: what departs from
 * the letter breaks it, because a guess about where it ends would be a guess about what was said.
 */
export class Http1Body {
  readonly #besidesMax: number;
  #phase: Phase;
  /** Bytes still to come of the body, or of the chunk; in the trailers, bytes of the line so far. */
  #left: number;
  #digits = 0;
  /** Bytes of extensions and trailers, which nobody wants. */
  #besides = 0;
  #sawCr = false;
  #inExtension = false;
  /** The line of the trailers has a name so far. */
  #sawColon = false;
  /** Where what the last read gave of the body begins and ends. */
  #start = 0;
  #end = 0;
  /** Why this is no body; null while all is well. */
  broken: string | null = null;

  constructor(framing: BodyFraming, besidesMax: number) {
    this.#besidesMax = besidesMax;
    this.#left = typeof framing === 'number' ? framing : 0;
    if (framing === 'chunked') this.#phase = 'chunk-size';
    else if (framing === 'until-close') this.#phase = 'until-close';
    else this.#phase = framing === 0 ? 'over' : 'length';
  }

  get over(): boolean {
    return this.#phase === 'over';
  }

  /** True if the end of the connection, now, is how this body ends too. */
  get mayEndHere(): boolean {
    return this.#phase === 'over' || this.#phase === 'until-close';
  }

  /** Reads on from there and returns how far it came; `takePiece` gives what of the body there was. */
  read(bytes: Buffer, from: number): number {
    let at = from;
    this.#start = 0;
    this.#end = 0;
    while (at < bytes.length && this.#phase !== 'over' && this.broken === null) at = this.#step(bytes, at);
    return at;
  }

  /** What the last read of these bytes gave; null if it was nothing. */
  takePiece(bytes: Buffer): Buffer | null {
    if (this.#end === this.#start) return null;
    return this.#start === 0 && this.#end === bytes.length ? bytes : bytes.subarray(this.#start, this.#end);
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#phase) {
      case 'chunk':
        return this.#piece(bytes, at, 'chunk-end');
      case 'chunk-size':
        return this.#chunkSize(bytes, at);
      case 'chunk-end':
        return this.#chunkEnd(bytes, at);
      case 'length':
        return this.#piece(bytes, at, 'over');
      case 'trailers':
        return this.#trailers(bytes, at);
      default:
        this.#add(bytes, at, bytes.length);
        return bytes.length;
    }
  }

  #break(words: string): number {
    this.broken = words;
    return 0;
  }

  /** As much of what is still to come as there is. */
  #piece(bytes: Buffer, at: number, next: Phase): number {
    const to = Math.min(at + this.#left, bytes.length);
    this.#left -= to - at;
    if (this.#left === 0) this.#phase = next;
    this.#add(bytes, at, to);
    return to;
  }

  /** Chunks are moved together where they stand: whoever comes later is faster with one piece than with many. */
  #add(bytes: Buffer, from: number, to: number): void {
    if (this.#end === 0) {
      this.#start = from;
      this.#end = to;
    } else {
      bytes.copyWithin(this.#end, from, to);
      this.#end += to - from;
    }
  }

  #chunkSize(bytes: Buffer, from: number): number {
    const after = this.#digits === 0 && !this.#sawCr ? this.#plainSize(bytes, from) : from;
    if (after > from) return after;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#sawCr) return byte === LF ? this.#sizeRead(at + 1) : this.#break(CHUNK_WORDS);
      if (byte === CR) this.#sawCr = true;
      else if (this.#inExtension) {
        if (++this.#besides > this.#besidesMax || isControl(byte)) return this.#break(CHUNK_WORDS);
      } else if (byte === SEMICOLON && this.#digits > 0) this.#inExtension = true;
      else {
        const digit = HEX[byte]!;
        if (digit === NO_DIGIT || ++this.#digits > CHUNK_DIGITS_MAX) return this.#break(CHUNK_WORDS);
        this.#left = this.#left * 16 + digit;
      }
    }
    return bytes.length;
  }

  /** The usual line, whole and with nothing beside the size, in one go; where it is any other, nothing is read of it. */
  #plainSize(bytes: Buffer, from: number): number {
    let size = 0;
    let at = from;
    for (const end = Math.min(from + CHUNK_DIGITS_MAX, bytes.length - 2); at < end; at++) {
      const digit = HEX[bytes[at]!]!;
      if (digit === NO_DIGIT) break;
      size = size * 16 + digit;
    }
    if (at === from || bytes[at] !== CR || bytes[at + 1] !== LF) return from;
    this.#left = size;
    this.#phase = size === 0 ? 'trailers' : 'chunk';
    return at + 2;
  }

  #sizeRead(at: number): number {
    if (this.#digits === 0) return this.#break(CHUNK_WORDS);
    this.#sawCr = false;
    this.#inExtension = false;
    this.#digits = 0;
    this.#phase = this.#left === 0 ? 'trailers' : 'chunk';
    return at;
  }

  #chunkEnd(bytes: Buffer, from: number): number {
    if (!this.#sawCr && bytes[from] === CR && bytes[from + 1] === LF) {
      this.#phase = 'chunk-size';
      return from + 2;
    }
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

  /** Nothing in them is wanted; an empty line ends them and the body. */
  #trailers(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#sawCr) {
        if (byte !== LF || (this.#left > 0 && !this.#sawColon)) return this.#break(TRAILER_WORDS);
        if (this.#left === 0) {
          this.#phase = 'over';
          return at + 1;
        }
        this.#sawCr = false;
        this.#sawColon = false;
        this.#left = 0;
      } else if (byte === CR) this.#sawCr = true;
      else if (isControl(byte) || (byte === COLON && this.#left === 0)) return this.#break(TRAILER_WORDS);
      else {
        if (byte === COLON) this.#sawColon = true;
        this.#left++;
        if (++this.#besides > this.#besidesMax) return this.#break('The trailers of the body are too large.');
      }
    }
    return bytes.length;
  }
}

const CHUNK_WORDS = 'The body is broken into chunks in a way that HTTP does not know.';
const TRAILER_WORDS = 'The body ends in a broken trailer.';

function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09) || byte === 0x7f;
}

const NO_DIGIT = 255;
const HEX = new Uint8Array(256).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) {
  const letter = digit.toString(16);
  HEX[letter.charCodeAt(0)] = digit;
  HEX[letter.toUpperCase().charCodeAt(0)] = digit;
}
