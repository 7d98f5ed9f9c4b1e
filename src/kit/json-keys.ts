import { decodeString } from './json-bytes.ts';

/** Up to this many keys are compared byte by byte, which is cheaper than making strings of them. */
const COMPARED_KEYS_MAX = 16;

/** The keys of one object so far, by their place in the text; tells whether a key was there before. */
export class KeySet {
  readonly #bytes: Buffer;
  /** Opening and closing quote of each key, by turns. */
  readonly #quotes: number[] = [];
  #count = 0;
  /** Decoded keys, once there are many or one is spelt with an escape. */
  #decoded: Set<string> | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  clear(): void {
    this.#count = 0;
    this.#decoded = null;
  }

  /** False if the object has this key already, in whatever spelling. */
  add(openingQuote: number, closingQuote: number, isEscaped: boolean): boolean {
    if (this.#decoded === null && (isEscaped || this.#count === COMPARED_KEYS_MAX)) this.#decode();
    const isNew =
      this.#decoded === null ? this.#isNew(openingQuote, closingQuote) : this.#addDecoded(openingQuote, closingQuote);
    const slot = this.#decoded === null ? this.#count++ : 0;
    this.#quotes[2 * slot] = openingQuote;
    this.#quotes[2 * slot + 1] = closingQuote;
    return isNew;
  }

  /** The key added last, for messages. */
  last(): string | null {
    if (this.#decoded === null && this.#count === 0) return null;
    const slot = this.#decoded === null ? this.#count - 1 : 0;
    return decodeString(this.#bytes, this.#quotes[2 * slot]! + 1, this.#quotes[2 * slot + 1]!);
  }

  #isNew(openingQuote: number, closingQuote: number): boolean {
    const length = closingQuote - openingQuote;
    for (let slot = 0; slot < this.#count; slot++) {
      const other = this.#quotes[2 * slot]!;
      if (this.#quotes[2 * slot + 1]! - other === length && this.#areEqual(other, openingQuote, length)) return false;
    }
    return true;
  }

  #areEqual(left: number, right: number, length: number): boolean {
    for (let offset = 1; offset < length; offset++) {
      if (this.#bytes[left + offset] !== this.#bytes[right + offset]) return false;
    }
    return true;
  }

  #decode(): void {
    this.#decoded = new Set();
    for (let slot = 0; slot < this.#count; slot++) {
      this.#addDecoded(this.#quotes[2 * slot]!, this.#quotes[2 * slot + 1]!);
    }
  }

  /** The opening quote stays on, because V8 hashes strings of digits without its secret seed. */
  #addDecoded(openingQuote: number, closingQuote: number): boolean {
    const decoded = this.#decoded!;
    const sizeBefore = decoded.size;
    return decoded.add(decodeString(this.#bytes, openingQuote, closingQuote)).size > sizeBefore;
  }
}
