import { type ExtensionState, isWholeExtension, nextExtensionState } from './chunk-extension.ts';
import { isTrailerLine } from './trailers.ts';

/** How the body of a message ends: after this many bytes, with its last chunk, or with the connection. */
export type BodyFraming = number | 'chunked' | 'until-close';

/** Which part of the body the next byte belongs to. */
type Phase = 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-close' | 'over';

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
/** Eight digits are 4 GB: no chunk that any limit allows is larger. */
const CHUNK_DIGITS_MAX = 8;

/**
 * Reads the body of an HTTP/1.1 message as it arrives. It takes over the buffers it is given. Anything that the grammar
 * does not allow breaks the body: guessing where it ends would mean guessing where the next message begins.
 */
export class Http1Body {
  readonly #droppedBytesMax: number;
  #phase: Phase;
  /** Bytes still to come of the body, or of the current chunk. */
  #left: number;
  #digits = 0;
  /** Bytes of extensions and trailers so far; they are checked and dropped. */
  #droppedBytes = 0;
  #sawCr = false;
  /** Null while the line of a chunk's size has no extension. */
  #extension: ExtensionState | null = null;
  /** The trailer line so far. */
  #trailer = '';
  /** The part of the buffer that holds the body bytes of the last read. */
  #start = 0;
  #end = 0;
  /** Why the body is malformed; null while it is not. */
  broken: string | null = null;

  constructor(framing: BodyFraming, droppedBytesMax: number) {
    this.#droppedBytesMax = droppedBytesMax;
    this.#left = typeof framing === 'number' ? framing : 0;
    if (framing === 'chunked') this.#phase = 'chunk-size';
    else if (framing === 'until-close') this.#phase = 'until-close';
    else this.#phase = framing === 0 ? 'over' : 'length';
  }

  get over(): boolean {
    return this.#phase === 'over';
  }

  /** True if the body would be complete if the connection ended now. */
  get mayEndHere(): boolean {
    return this.#phase === 'over' || this.#phase === 'until-close';
  }

  /** Reads from `from` and returns where it stopped; `takePiece` then gives the body bytes it found. */
  read(bytes: Buffer, from: number): number {
    let at = from;
    this.#start = 0;
    this.#end = 0;
    while (at < bytes.length && this.#phase !== 'over' && this.broken === null) at = this.#step(bytes, at);
    return at;
  }

  /** The body bytes of the last read; null if there were none. */
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

  #break(reason: string): number {
    this.broken = reason;
    return 0;
  }

  #piece(bytes: Buffer, at: number, next: Phase): number {
    const to = Math.min(at + this.#left, bytes.length);
    this.#left -= to - at;
    if (this.#left === 0) this.#phase = next;
    this.#add(bytes, at, to);
    return to;
  }

  /** Moves chunks together inside the buffer: later steps are faster with one piece than with many. */
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
      if (this.#sawCr) return byte === LF ? this.#sizeRead(at + 1) : this.#break(MALFORMED_CHUNK);
      if (byte === CR) this.#sawCr = true;
      else if (this.#extension !== null) {
        this.#extension = nextExtensionState(this.#extension, byte);
        if (this.#extension === null || ++this.#droppedBytes > this.#droppedBytesMax)
          return this.#break(MALFORMED_EXTENSION);
      } else if (byte === SEMICOLON && this.#digits > 0) this.#extension = 'name-start';
      else {
        const digit = HEX[byte]!;
        if (digit === NO_DIGIT || ++this.#digits > CHUNK_DIGITS_MAX) return this.#break(MALFORMED_CHUNK);
        this.#left = this.#left * 16 + digit;
      }
    }
    return bytes.length;
  }

  /** Reads a whole line that holds only a size, as most do, in one go; any other line is left unread. */
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
    if (this.#digits === 0) return this.#break(MALFORMED_CHUNK);
    if (this.#extension !== null && !isWholeExtension(this.#extension)) return this.#break(MALFORMED_EXTENSION);
    this.#sawCr = false;
    this.#extension = null;
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
      if (bytes[at] !== (this.#sawCr ? LF : CR)) return this.#break(MALFORMED_CHUNK);
      if (this.#sawCr) {
        this.#sawCr = false;
        this.#phase = 'chunk-size';
        return at + 1;
      }
      this.#sawCr = true;
    }
    return bytes.length;
  }

  /** Checks trailers and drops them; an empty line ends them and the body. */
  #trailers(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#sawCr) {
        if (byte !== LF) return this.#break(MALFORMED_TRAILER);
        if (this.#trailer === '') {
          this.#phase = 'over';
          return at + 1;
        }
        if (!isTrailerLine(this.#trailer)) return this.#break(MALFORMED_TRAILER);
        this.#sawCr = false;
        this.#trailer = '';
      } else if (byte === CR) this.#sawCr = true;
      else {
        this.#trailer += String.fromCharCode(byte);
        if (++this.#droppedBytes > this.#droppedBytesMax) return this.#break('The trailers of the body are too large.');
      }
    }
    return bytes.length;
  }
}

const MALFORMED_CHUNK = 'Malformed chunk in a chunked body.';
const MALFORMED_EXTENSION = 'Malformed or too long chunk extension.';
const MALFORMED_TRAILER = 'Malformed or forbidden trailer after a chunked body.';

const NO_DIGIT = 255;
const HEX = new Uint8Array(256).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) {
  const letter = digit.toString(16);
  HEX[letter.charCodeAt(0)] = digit;
  HEX[letter.toUpperCase().charCodeAt(0)] = digit;
}
