import { decodeString } from './bytes.ts';

/** Up to this many keys are compared byte by byte, which is cheaper than creating strings. */
const COMPARED_KEYS_MAX = 16;

/** The keys of one object so far, as positions in the text; finds duplicates. */
export class KeySet {
  readonly #bytes: Buffer;
  /** The quotes of the keys that are compared as bytes: for each key the opening one, then the closing one. */
  readonly #quotes: number[] = [];
  #quoteCount = 0;
  /** All keys as strings, once there are many or one has an escape. */
  #decoded: Set<string> | null = null;
  /** The quotes of the last key added; -1 if there is none. */
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

  /** False if the object already has this key, even if it was written with other escapes. */
  add(opening: number, closing: number, isEscaped: boolean): boolean {
    this.lastOpening = opening;
    this.lastClosing = closing;
    if (this.#decoded !== null) return this.#addDecoded(this.#decoded, opening, closing);
    if (isEscaped || this.#quoteCount === 2 * COMPARED_KEYS_MAX) {
      return this.#addDecoded(this.#decodeAll(), opening, closing);
    }
    return this.#addCompared(opening, closing);
  }

  /** The last key added; null if there is none. */
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

  /** Keys keep their opening quote: V8 hashes strings of digits without a seed, so a sender could force collisions. */
  #addDecoded(decoded: Set<string>, opening: number, closing: number): boolean {
    const sizeBefore = decoded.size;
    return decoded.add(decodeString(this.#bytes, opening, closing)).size > sizeBefore;
  }
}
