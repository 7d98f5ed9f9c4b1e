import {
  afterSpace,
  afterString,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';
import { describeByte, describePlace, formatPath, JsonError, type JsonErrorCode } from './json-error.ts';
import { KeySet } from './json-keys.ts';

export interface JsonLimits {
  /** Deepest nesting of objects and arrays. */
  depthMax: number;
  /** Most values: members, elements, and the outermost one. */
  nodesMax: number;
  numberDigitsMax: number;
  /** V8 hashes strings above 16,383 characters by their length alone, so that long keys make JSON.parse quadratic. */
  keyBytesMax: number;
}

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const LITERALS: Readonly<Record<number, Buffer>> = {
  116: Buffer.from('true'),
  102: Buffer.from('false'),
  110: Buffer.from('null'),
};

/**
 * Walks over JSON once, without building anything, and refuses what must not reach JSON.parse or a host.
 * What is inside strings is left to JSON.parse; everything else it accepts or refuses exactly as JSON.parse does.
 */
export function checkStructure(bytes: Buffer, limits: JsonLimits): void {
  new StructureCheck(bytes, limits).run(bytes.length);
}

/** The path of whatever holds the byte at this position, in JSON whose structure was checked. */
export function pathAt(bytes: Buffer, position: number, limits: JsonLimits): string {
  const check = new StructureCheck(bytes, limits);
  check.run(position);
  return check.path();
}

class StructureCheck {
  readonly #bytes: Buffer;
  readonly #limits: JsonLimits;
  /** One per level, made on first use and used again for every container on that level. */
  readonly #levels: Level[] = [];
  #level: Level | undefined;
  #depth = 0;
  #valueCount = 0;
  #at = 0;

  constructor(bytes: Buffer, limits: JsonLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  run(until: number): void {
    do {
      while (this.#entersContainer());
      if (this.#at > until) return;
    } while (this.#toNextValue());
    this.#at = afterSpace(this.#bytes, this.#at);
    if (this.#at < this.#bytes.length) this.#unexpected('nothing more');
  }

  /** Passes a whole scalar or empty container; of any other container only the opening, and is true. */
  #entersContainer(): boolean {
    this.#at = afterSpace(this.#bytes, this.#at);
    if (++this.#valueCount > this.#limits.nodesMax) this.#refuseCount();
    const byte = this.#bytes[this.#at];
    if (byte === OPEN_BRACE) return this.#openObject();
    if (byte === OPEN_BRACKET) return this.#openArray();
    if (byte === QUOTE) this.#passString();
    else if (byte === MINUS || isDigit(byte)) this.#passNumber();
    else this.#passLiteral(byte);
    return false;
  }

  /** Closes what ends here; false at the end of the outermost value. */
  #toNextValue(): boolean {
    for (let level = this.#level; level !== undefined; level = this.#level) {
      this.#at = afterSpace(this.#bytes, this.#at);
      const byte = this.#bytes[this.#at];
      if (byte === COMMA) {
        this.#at++;
        if (level.isObject) this.#passKey(level);
        else level.index++;
        return true;
      }
      if (byte !== (level.isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        this.#unexpected(level.isObject ? 'a comma or }' : 'a comma or ]');
      }
      this.#leave();
    }
    return false;
  }

  #openObject(): boolean {
    const level = this.#enter();
    level.becomeObject();
    this.#at = afterSpace(this.#bytes, this.#at + 1);
    if (this.#bytes[this.#at] === CLOSE_BRACE) return this.#leaveEmpty();
    this.#passKey(level);
    return true;
  }

  #openArray(): boolean {
    this.#enter().becomeArray();
    this.#at = afterSpace(this.#bytes, this.#at + 1);
    return this.#bytes[this.#at] === CLOSE_BRACKET ? this.#leaveEmpty() : true;
  }

  #enter(): Level {
    if (this.#depth === this.#limits.depthMax) this.#refuseDepth();
    this.#levels[this.#depth] ??= new Level(this.#bytes);
    this.#level = this.#levels[this.#depth++]!;
    return this.#level;
  }

  #leaveEmpty(): false {
    this.#leave();
    return false;
  }

  #leave(): void {
    this.#at++;
    this.#level = this.#levels[--this.#depth - 1];
  }

  #passKey(level: Level): void {
    const bytes = this.#bytes;
    const openingQuote = afterSpace(bytes, this.#at);
    this.#at = openingQuote;
    if (bytes[openingQuote] !== QUOTE) this.#unexpected('a key in double quotes');
    const longestEnd = openingQuote + 1 + this.#limits.keyBytesMax;
    let isEscaped = false;
    let end = openingQuote + 1;
    for (let byte = bytes[end]; byte !== QUOTE; byte = bytes[end]) {
      if (byte === BACKSLASH) isEscaped = true;
      end += byte === BACKSLASH ? 2 : 1;
      if (end >= bytes.length) this.#unterminated();
      if (end > longestEnd) this.#refuseKeyLength();
    }
    if (!level.keys.add(openingQuote, end, isEscaped)) this.#refuseDuplicate();
    this.#at = afterSpace(bytes, end + 1);
    if (bytes[this.#at] !== COLON) this.#unexpected('a colon');
    this.#at++;
  }

  #passString(): void {
    const end = afterString(this.#bytes, this.#at);
    if (end === -1) this.#unterminated();
    this.#at = end;
  }

  #passLiteral(first: number | undefined): void {
    const literal = first === undefined ? undefined : LITERALS[first];
    if (literal === undefined) this.#unexpected('a value');
    for (const byte of literal) {
      if (this.#bytes[this.#at] !== byte) this.#unexpected('true, false or null');
      this.#at++;
    }
  }

  #passNumber(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    if (bytes[this.#at] === MINUS) this.#at++;
    if (bytes[this.#at] === ZERO) this.#at++;
    else this.#passDigits();
    if (bytes[this.#at] === DOT) {
      this.#at++;
      this.#passDigits();
    }
    if (bytes[this.#at] === 0x65 || bytes[this.#at] === 0x45) {
      this.#at++;
      if (bytes[this.#at] === 0x2b || bytes[this.#at] === MINUS) this.#at++;
      this.#passDigits();
    }
    if (this.#at - start > this.#limits.numberDigitsMax) this.#refuseNumberLength();
  }

  #passDigits(): void {
    let at = this.#at;
    while (isDigit(this.#bytes[at])) at++;
    if (at === this.#at) this.#unexpected('a digit');
    this.#at = at;
  }

  #unterminated(): never {
    this.#refuse('syntax', `This is not valid JSON: a string that begins ${this.#place()} has no closing quote.`);
  }

  #unexpected(wanted: string): never {
    const found = describeByte(this.#bytes[this.#at]);
    this.#refuse('syntax', `This is not valid JSON: expected ${wanted} but found ${found} ${this.#place()}.`);
  }

  #refuseCount(): never {
    this.#refuse('too_many_values', `There are more than ${this.#limits.nodesMax} values. Send fewer at a time.`);
  }

  #refuseDepth(): never {
    const levels = this.#limits.depthMax;
    this.#refuse('too_deep', `Objects and arrays are nested more than ${levels} levels deep. Flatten them.`);
  }

  #refuseKeyLength(): never {
    const bytes = this.#limits.keyBytesMax;
    this.#refuse('key_too_long', `A key is longer than ${bytes} bytes ${this.#place()}. Put long text into a value.`);
  }

  #refuseNumberLength(): never {
    const digits = this.#limits.numberDigitsMax;
    this.#refuse('number_too_long', `A number has more than ${digits} digits. Round it, or send it as a string.`);
  }

  #refuseDuplicate(): never {
    this.#refuse('duplicate_key', `${this.path()} stands twice in the same object. Send each key once.`);
  }

  #refuse(code: JsonErrorCode, message: string): never {
    throw new JsonError(code, message, this.path());
  }

  #place(): string {
    return describePlace(this.#bytes, this.#at);
  }

  path(): string {
    const steps = this.#levels.slice(0, this.#depth).map((level) => level.step());
    return formatPath(steps.filter((step) => step !== null));
  }
}

/** Where the walk stands in one open object or array. */
class Level {
  isObject = false;
  index = 0;
  readonly keys: KeySet;

  constructor(bytes: Buffer) {
    this.keys = new KeySet(bytes);
  }

  becomeObject(): void {
    this.isObject = true;
    this.keys.clear();
  }

  becomeArray(): void {
    this.isObject = false;
    this.index = 0;
  }

  step(): string | number | null {
    return this.isObject ? this.keys.last() : this.index;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}
