import { decodeString } from './bytes.ts';

/** Up to this many keys are compared byte by byte, which is cheaper than making strings of them. */
const COMPARED_KEYS_MAX = 16;

/** The keys of one object so far, by their place in the text; tells whether a key was there before. */
export class KeySet {
  readonly #bytes: Buffer;
  /** Where the keys that are compared as bytes have their quotes: the opening one, then the closing one. */
  readonly #quotes: number[] = [];
  #quoteCount = 0;
  /** All keys decoded, once there are many or one is spelt with an escape. */
  #decoded: Set<string> | null = null;
  /** The quotes of the key added last; -1 while there is none. */
  lastOpening = -1;
  lastClosing = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  clear(): void {
    this.#quoteCount = 0;
    this.#decoded = null;
    this.lastOpening = -1;
  }

  /** False if the object has this key already, in whatever spelling. */
  add(opening: number, closing: number, isEscaped: boolean): boolean {
    this.lastOpening = opening;
    this.lastClosing = closing;
    if (this.#decoded !== null) return this.#addDecoded(this.#decoded, opening, closing);
    if (isEscaped || this.#quoteCount === 2 * COMPARED_KEYS_MAX) {
      return this.#addDecoded(this.#decodeAll(), opening, closing);
    }
    return this.#addCompared(opening, closing);
  }

  /** The key added last; null while there is none. */
  last(): string | null {
    return this.lastOpening === -1 ? null : decodeString(this.#bytes, this.lastOpening + 1, this.lastClosing);
  }

  #addCompared(opening: number, closing: number): boolean {
    const quotes = this.#quotes;
    const count = this.#quoteCount;
    const length = closing - opening;
    for (let index = 0; index < count; index += 2) {
      const other = quotes[index]!;
      if (quotes[index + 1]! - other === length && this.#areEqual(other, opening, length)) return false;
    }
    quotes[count] = opening;
    quotes[count + 1] = closing;
    this.#quoteCount = count + 2;
    return true;
  }

  #areEqual(left: number, right: number, length: number): boolean {
    const bytes = this.#bytes;
    for (let offset = 1; offset < length; offset++) {
      if (bytes[left + offset] !== bytes[right + offset]) return false;
    }
    return true;
  }

  #decodeAll(): Set<string> {
    const decoded = new Set<string>();
    for (let index = 0; index < this.#quoteCount; index += 2) {
      this.#addDecoded(decoded, this.#quotes[index]!, this.#quotes[index + 1]!);
    }
    this.#decoded = decoded;
    return decoded;
  }

  /** The opening quote stays on, because V8 hashes strings of digits without its secret seed. */
  #addDecoded(decoded: Set<string>, opening: number, closing: number): boolean {
    const sizeBefore = decoded.size;
    return decoded.add(decodeString(this.#bytes, opening, closing)).size > sizeBefore;
  }
}
