import { LIMITS } from '../limits.ts';
import {
  afterSpace,
  afterString,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  type JsonSource,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './bytes.ts';
import type { JsonContainer, JsonMember } from './container.ts';
import { describeByte, describePlace, formatPath, JsonError, type JsonErrorCode } from './error.ts';
import { KeySet } from './keys.ts';

export interface JsonLimits {
  /** How deeply objects and arrays may be nested. */
  depthMax: number;
  /** How many values there may be: members, elements and the outermost one. */
  nodesMax: number;
  /** How many keys all objects together may have: a key costs more than any other value. */
  keysMax: number;
  /** How many keys one object may have; as many as all together if it is not given. */
  objectKeysMax?: number;
  numberDigitsMax: number;
  /** V8 hashes strings above 16,383 characters by their length alone, so long keys would make JSON.parse quadratic. */
  keyBytesMax: number;
}

/**
 * How much work a text may cost, and what it did cost. A value counts as one; a key with an escape, or in an object that
 * already has many keys, counts as more.
 */
export interface JsonWork {
  readonly max: number;
  used: number;
}

export interface JsonStructure {
  /** At least one key contains a backslash. */
  readonly hasEscapedKeys: boolean;
  /** The members of the outermost object, found on the way; null if the outermost value is not an object. */
  readonly root: JsonContainer | null;
}

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const PLUS = 0x2b;
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/**
 * Reads JSON once, without building anything, and refuses what must not reach JSON.parse or a host. The insides of
 * strings are left to JSON.parse; everything else is accepted or refused exactly as JSON.parse does.
 */
export function checkStructure(source: JsonSource, limits: JsonLimits, work?: JsonWork): JsonStructure {
  const check = new StructureCheck(source, limits, work?.max);
  try {
    check.run(source.bytes.length);
    check.refuseManyBesideEscapes();
  } finally {
    if (work !== undefined) work.used = check.work;
  }
  return { hasEscapedKeys: check.hasEscapedKeys, root: check.root() };
}

/** The path of the value that holds the byte at this position, in JSON whose structure was checked. */
export function pathAt(source: JsonSource, position: number, limits: JsonLimits): string {
  const check = new StructureCheck(source, limits);
  check.run(position);
  return check.path();
}

/** Each step takes the position where it begins and returns the position after it. */
class StructureCheck {
  hasEscapedKeys = false;
  readonly #source: JsonSource;
  readonly #bytes: Buffer;
  readonly #limits: JsonLimits;
  /** Members of the outermost object. */
  readonly #members: JsonMember[] = [];
  /** One per depth, created on first use and reused for every container at that depth. */
  readonly #levels: Level[] = [];
  #level: Level | undefined;
  #depth = 0;
  #keyCount = 0;
  #valueCount = 0;
  readonly #workMax: number;
  /** Work beyond one per value. */
  #extraWork = 0;
  /** Lower than the limit on values once the rest of the work is used up. */
  #valuesMax: number;

  constructor(source: JsonSource, limits: JsonLimits, workMax: number = Number.POSITIVE_INFINITY) {
    this.#source = source;
    this.#bytes = source.bytes;
    this.#limits = limits;
    this.#workMax = workMax;
    this.#valuesMax = Math.min(limits.nodesMax, workMax);
  }

  get work(): number {
    return this.#valueCount + this.#extraWork;
  }

  run(until: number): void {
    const bytes = this.#bytes;
    let at = afterSpace(bytes, 0);
    while (at <= until) {
      if (++this.#valueCount > this.#valuesMax) this.#refuseCount();
      const byte = bytes[at];
      if (byte === OPEN_BRACE) {
        const level = this.#enter(true);
        at = afterSpace(bytes, at + 1);
        if (bytes[at] !== CLOSE_BRACE) {
          at = this.#afterKey(at, level);
          continue;
        }
      } else if (byte === OPEN_BRACKET) {
        this.#enter(false);
        at = afterSpace(bytes, at + 1);
        if (bytes[at] !== CLOSE_BRACKET) continue;
      } else at = this.#afterScalar(at, byte);
      if (at <= until) at = this.#nextValue(at);
    }
  }

  /** Text with an escaped key is built value by value, which takes longer, so fewer values are allowed. */
  refuseManyBesideEscapes(): void {
    const values = Math.floor(this.#limits.nodesMax / LIMITS.jsonEscapedKeyWeight);
    if (!this.hasEscapedKeys || this.#valueCount <= values) return;
    const remedy = 'Write keys without backslashes, or send fewer values at a time.';
    throw new JsonError(
      'too_many_values',
      `There are more than ${values} values, and at least one key has an escape. ${remedy}`,
    );
  }

  /** Where the members of the outermost object are, so that an edit need not search for them. */
  root(): JsonContainer | null {
    const start = afterSpace(this.#bytes, 0);
    return this.#bytes[start] === OPEN_BRACE ? { isObject: true, inside: start + 1, members: this.#members } : null;
  }

  /** Closes the containers that end here and goes to the next value; past the end of the text if there is none. */
  #nextValue(from: number): number {
    const bytes = this.#bytes;
    let end = from;
    let at = afterSpace(bytes, end);
    for (let level = this.#level; level !== undefined; level = this.#level) {
      if (this.#depth === 1 && level.hasMember()) this.#members.push(level.memberUntil(end));
      const byte = bytes[at];
      if (byte === COMMA) {
        at = afterSpace(bytes, at + 1);
        if (level.isObject) return this.#afterKey(at, level);
        level.index++;
        return at;
      }
      if (byte !== (level.isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        this.#unexpected(at, level.isObject ? 'a comma or }' : 'a comma or ]');
      }
      this.#depth--;
      // V8 treats an index of -1 as a property name and looks it up, which is slow.
      this.#level = this.#depth === 0 ? undefined : this.#levels[this.#depth - 1];
      end = at + 1;
      at = afterSpace(bytes, end);
    }
    if (at < bytes.length) this.#unexpected(at, 'nothing more');
    return bytes.length + 1;
  }

  #enter(isObject: boolean): Level {
    if (this.#depth === this.#limits.depthMax) this.#refuseDepth();
    this.#levels[this.#depth] ??= new Level(this.#bytes);
    const level = this.#levels[this.#depth++]!;
    level.begin(isObject);
    this.#level = level;
    return level;
  }

  /** Returns where the key's value begins. */
  #afterKey(openingQuote: number, level: Level): number {
    const bytes = this.#bytes;
    // Until the key is read, an error is one of the object, not of the key before.
    level.keys.lastOpening = -1;
    if (bytes[openingQuote] !== QUOTE) this.#unexpected(openingQuote, 'a key in double quotes');
    const longestEnd = openingQuote + 1 + this.#limits.keyBytesMax;
    let isEscaped = false;
    let end = openingQuote + 1;
    for (let byte = bytes[end]; byte !== QUOTE; byte = bytes[end]) {
      if (byte === BACKSLASH) isEscaped = true;
      end += byte === BACKSLASH ? 2 : 1;
      if (end >= bytes.length) this.#unterminated(openingQuote);
      if (end > longestEnd) this.#refuseKeyLength(openingQuote);
    }
    if (isEscaped) this.hasEscapedKeys = true;
    if (!level.keys.add(openingQuote, end, isEscaped)) this.#refuseDuplicate();
    this.#keyCount += isEscaped ? LIMITS.jsonEscapedKeyWeight : 1;
    if (this.#keyCount > this.#limits.keysMax) this.#refuseKeyCount();
    if (isEscaped) this.#addWork(LIMITS.jsonEscapedKeyWeight);
    if (++level.keyCount > LIMITS.jsonObjectKeysCheap) this.#crowd(level);
    const colon = afterSpace(bytes, end + 1);
    if (bytes[colon] !== COLON) this.#unexpected(colon, 'a colon');
    level.valueStart = afterSpace(bytes, colon + 1);
    return level.valueStart;
  }

  /** The time for a key grows with the keys of its object, so one object must not have all that are allowed. */
  #crowd(level: Level): void {
    this.#addWork(LIMITS.jsonCrowdedKeyWeight);
    const { objectKeysMax = Number.POSITIVE_INFINITY } = this.#limits;
    if (level.keyCount <= objectKeysMax) return;
    const remedy = 'Split it into several objects, or send the data as text in a string.';
    this.#refuse('too_many_keys', `One object has more than ${objectKeysMax} keys. ${remedy}`);
  }

  #addWork(work: number): void {
    this.#extraWork += work;
    this.#valuesMax = Math.min(this.#limits.nodesMax, this.#workMax - this.#extraWork);
  }

  #afterScalar(at: number, first: number | undefined): number {
    if (first === QUOTE) return this.#afterString(at);
    if (first === MINUS || isDigit(first)) return this.#afterNumber(at);
    if (first === 0x74) return this.#afterWord(at, TRUE);
    if (first === 0x66) return this.#afterWord(at, FALSE);
    if (first === 0x6e) return this.#afterWord(at, NULL);
    return this.#unexpected(at, 'a value');
  }

  #afterString(openingQuote: number): number {
    const end = afterString(this.#source, openingQuote);
    if (end === -1) this.#unterminated(openingQuote);
    return end;
  }

  #afterWord(at: number, word: Buffer): number {
    for (let offset = 1; offset < word.length; offset++) {
      if (this.#bytes[at + offset] !== word[offset]) this.#unexpected(at + offset, 'true, false or null');
    }
    return at + word.length;
  }

  #afterNumber(start: number): number {
    const bytes = this.#bytes;
    let at = bytes[start] === MINUS ? start + 1 : start;
    at = bytes[at] === ZERO ? at + 1 : this.#afterDigits(at);
    if (bytes[at] === DOT) at = this.#afterDigits(at + 1);
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      const isSigned = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS;
      at = this.#afterDigits(isSigned ? at + 2 : at + 1);
    }
    if (at - start > this.#limits.numberDigitsMax) this.#refuseNumberLength();
    return at;
  }

  #afterDigits(from: number): number {
    let at = from;
    while (isDigit(this.#bytes[at])) at++;
    if (at === from) this.#unexpected(at, 'a digit');
    return at;
  }

  #unterminated(openingQuote: number): never {
    const place = describePlace(this.#bytes, openingQuote);
    this.#refuse('syntax', `This is not valid JSON: the string that begins ${place} has no closing quote.`);
  }

  #unexpected(at: number, wanted: string): never {
    const found = describeByte(this.#bytes[at]);
    const place = describePlace(this.#bytes, at);
    this.#refuse('syntax', `This is not valid JSON: expected ${wanted} but found ${found} ${place}.`);
  }

  #refuseCount(): never {
    if (this.#valueCount <= this.#limits.nodesMax)
      this.#refuse('too_much_work', 'There are more values than may be read now. Send fewer, or try again later.');
    this.#refuse('too_many_values', `There are more than ${this.#limits.nodesMax} values. Send fewer at a time.`);
  }

  #refuseKeyCount(): never {
    const keys = this.#limits.keysMax;
    this.#refuse(
      'too_many_keys',
      `There are more than ${keys} keys; a key with an escape counts as ${LIMITS.jsonEscapedKeyWeight}. Send fewer, or send the data as text in a string.`,
    );
  }

  #refuseDepth(): never {
    const levels = this.#limits.depthMax;
    this.#refuse('too_deep', `Objects and arrays are nested more than ${levels} levels deep. Flatten them.`);
  }

  #refuseKeyLength(openingQuote: number): never {
    const place = describePlace(this.#bytes, openingQuote);
    const bytes = this.#limits.keyBytesMax;
    this.#refuse('key_too_long', `The key ${place} is longer than ${bytes} bytes. Put long text into a value.`);
  }

  #refuseNumberLength(): never {
    const digits = this.#limits.numberDigitsMax;
    this.#refuse('number_too_long', `A number has more than ${digits} digits. Round it, or send it as a string.`);
  }

  #refuseDuplicate(): never {
    this.#refuse('duplicate_key', `${this.path()} appears twice in the same object. Send each key once.`);
  }

  #refuse(code: JsonErrorCode, message: string): never {
    throw new JsonError(code, message, this.path());
  }

  path(): string {
    const steps = this.#levels.slice(0, this.#depth).map((level) => level.step());
    return formatPath(steps.filter((step) => step !== null));
  }
}

/** The current position in one open object or array. */
class Level {
  isObject = false;
  index = 0;
  /** Where the value of the last key begins. */
  valueStart = 0;
  keyCount = 0;
  readonly keys: KeySet;

  constructor(bytes: Buffer) {
    this.keys = new KeySet(bytes);
  }

  begin(isObject: boolean): void {
    this.isObject = isObject;
    this.index = 0;
    this.keyCount = 0;
    this.keys.clear();
  }

  hasMember(): boolean {
    return this.isObject && this.keys.lastOpening !== -1;
  }

  memberUntil(end: number): JsonMember {
    return { keyStart: this.keys.lastOpening, keyEnd: this.keys.lastClosing + 1, start: this.valueStart, end };
  }

  step(): string | number | null {
    return this.isObject ? this.keys.last() : this.index;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}
