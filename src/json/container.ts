import {
  afterSpace,
  afterString,
  afterValue,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  decodeString,
  type JsonSource,
  OPEN_BRACE,
  OPEN_BRACKET,
} from './bytes.ts';
import { JsonError } from './error.ts';

/** Object keys and array indices, from the outermost value inwards. */
export type JsonPath = readonly (string | number)[];

export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** One member of an object or element of an array; an element has no key. */
export interface JsonMember extends JsonSpan {
  /** The key with its quotes; for an element both are where its value starts. */
  readonly keyStart: number;
  readonly keyEnd: number;
}

export interface JsonContainer {
  readonly isObject: boolean;
  /** Just after the opening brace or bracket. */
  readonly inside: number;
  readonly members: readonly JsonMember[];
}

/** Valid JSON, of which only the objects and arrays on requested paths are read, each once. */
export class JsonContainers {
  readonly bytes: Buffer;
  /** Where the outermost value begins. */
  readonly start: number;
  /** Without the string form, which would keep the text in memory twice. */
  readonly #source: JsonSource;
  #root: JsonContainer | null;
  #deeper: Map<number, JsonContainer | null> | null = null;

  /** The outermost container may be passed in if an earlier pass has read it. */
  constructor(bytes: Buffer, root: JsonContainer | null = null) {
    this.bytes = bytes;
    this.start = afterSpace(bytes, 0);
    this.#source = { bytes, ascii: null };
    this.#root = root;
  }

  /** Finds the value at a path; null if there is none. */
  locate(path: JsonPath): JsonSpan | null {
    if (path.length === 0) return { start: this.start, end: valueEnd(this.#source, this.start) };
    let member: JsonMember | undefined;
    for (const step of path) {
      const container = this.containerAt(member === undefined ? this.start : member.start);
      member = container === null ? undefined : findMember(this.bytes, container, step);
      if (member === undefined) return null;
    }
    return member ?? null;
  }

  containerAt(start: number): JsonContainer | null {
    if (start === this.start) {
      this.#root ??= readContainer(this.#source, start);
      return this.#root;
    }
    this.#deeper ??= new Map();
    let container = this.#deeper.get(start);
    if (container === undefined) {
      container = readContainer(this.#source, start);
      this.#deeper.set(start, container);
    }
    return container;
  }
}

/** Lists the members of the object or array that begins here, without looking into them; null for a scalar. */
export function readContainer(
  source: JsonSource,
  start: number,
  depthMax = Number.POSITIVE_INFINITY,
): JsonContainer | null {
  const opening = source.bytes[start];
  if (opening !== OPEN_BRACE && opening !== OPEN_BRACKET) return null;
  const isObject = opening === OPEN_BRACE;
  return { isObject, inside: start + 1, members: readMembers(source, start + 1, isObject, depthMax - 1) };
}

function readMembers(source: JsonSource, inside: number, isObject: boolean, depthMax: number): JsonMember[] {
  const { bytes } = source;
  const closing = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  const members: JsonMember[] = [];
  let at = afterSpace(bytes, inside);
  if (bytes[at] === closing) return members;
  for (;;) {
    const keyEnd = isObject ? afterString(source, at) : at;
    if (keyEnd === -1) throw brokenJson();
    const start = isObject ? afterSpace(bytes, afterSpace(bytes, keyEnd) + 1) : at;
    const end = valueEnd(source, start, depthMax);
    members.push({ keyStart: at, keyEnd, start, end });
    at = afterSpace(bytes, end);
    if (bytes[at] === closing) return members;
    if (bytes[at] !== COMMA) throw brokenJson();
    at = afterSpace(bytes, at + 1);
  }
}

function valueEnd(source: JsonSource, start: number, depthMax?: number): number {
  const end = afterValue(source, start, depthMax);
  if (end === -1) throw brokenJson();
  return end;
}

/** Of duplicate keys the last one counts, as with JSON.parse. */
export function findMember(bytes: Buffer, container: JsonContainer, key: string | number): JsonMember | undefined {
  const { isObject, members } = container;
  if (typeof key === 'number') return isObject ? undefined : members[key];
  if (!isObject) return undefined;
  for (let index = members.length - 1; index >= 0; index--) {
    if (hasKey(bytes, members[index]!, key)) return members[index];
  }
  return undefined;
}

/** Compares byte by byte, because creating a string for every key would cost more. */
export function hasKey(bytes: Buffer, { keyStart, keyEnd }: JsonMember, key: string): boolean {
  const length = keyEnd - keyStart - 2;
  for (let offset = 0; offset < length; offset++) {
    const byte = bytes[keyStart + 1 + offset]!;
    if (byte === BACKSLASH || byte > 0x7f) return decodeString(bytes, keyStart + 1, keyEnd - 1) === key;
    if (byte !== key.charCodeAt(offset)) return false;
  }
  return length === key.length;
}

function brokenJson(): JsonError {
  return new JsonError('syntax', 'This is not valid JSON: it ends too early, or a comma is missing.');
}
