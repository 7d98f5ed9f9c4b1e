import {
  afterSpace,
  afterString,
  afterValue,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  decodeString,
  OPEN_BRACE,
  OPEN_BRACKET,
} from './json-bytes.ts';
import { JsonError } from './json-error.ts';

/** Keys of objects and indices of arrays, from the outermost value inwards. */
export type JsonPath = readonly (string | number)[];

export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** One member of an object or element of an array; an element's key is its index and has no text of its own. */
export interface JsonMember extends JsonSpan {
  readonly key: string | number;
  /** From the opening quote to after the closing one; for an element both are where its value starts. */
  readonly keyStart: number;
  readonly keyEnd: number;
}

export interface JsonContainer {
  readonly isObject: boolean;
  /** Just after the opening brace or bracket. */
  readonly inside: number;
  readonly members: readonly JsonMember[];
}

/** JSON known to be valid, of which only the objects and arrays on asked-for paths are read, each once. */
export class JsonContainers {
  readonly bytes: Buffer;
  /** Where the outermost value begins. */
  readonly start: number;
  readonly #read = new Map<number, JsonContainer | null>();

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.start = afterSpace(bytes, 0);
  }

  /** Where the value at a path lies; null if there is none. */
  locate(path: JsonPath): JsonSpan | null {
    if (path.length === 0) return { start: this.start, end: valueEnd(this.bytes, this.start) };
    let member: JsonMember | undefined;
    for (const step of path) {
      const container = this.containerAt(member === undefined ? this.start : member.start);
      member = container === null ? undefined : findMember(container, step);
      if (member === undefined) return null;
    }
    return member ?? null;
  }

  containerAt(start: number): JsonContainer | null {
    let container = this.#read.get(start);
    if (container === undefined) {
      container = readContainer(this.bytes, start);
      this.#read.set(start, container);
    }
    return container;
  }
}

/** Lists what lies directly in the object or array that begins here, stepping over deeper values; null for a scalar. */
function readContainer(bytes: Buffer, start: number): JsonContainer | null {
  const opening = bytes[start];
  if (opening !== OPEN_BRACE && opening !== OPEN_BRACKET) return null;
  const isObject = opening === OPEN_BRACE;
  return { isObject, inside: start + 1, members: readMembers(bytes, start + 1, isObject) };
}

function readMembers(bytes: Buffer, inside: number, isObject: boolean): JsonMember[] {
  const closing = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  const members: JsonMember[] = [];
  let at = afterSpace(bytes, inside);
  if (bytes[at] === closing) return members;
  for (;;) {
    const member = isObject ? readMember(bytes, at) : readElement(bytes, at, members.length);
    members.push(member);
    at = afterSpace(bytes, member.end);
    if (bytes[at] === closing) return members;
    if (bytes[at] !== COMMA) throw brokenJson();
    at = afterSpace(bytes, at + 1);
  }
}

function readMember(bytes: Buffer, keyStart: number): JsonMember {
  const keyEnd = afterString(bytes, keyStart);
  if (keyEnd === -1) throw brokenJson();
  const colon = afterSpace(bytes, keyEnd);
  const start = afterSpace(bytes, colon + 1);
  return { key: decodeString(bytes, keyStart + 1, keyEnd - 1), keyStart, keyEnd, start, end: valueEnd(bytes, start) };
}

function readElement(bytes: Buffer, start: number, index: number): JsonMember {
  return { key: index, keyStart: start, keyEnd: start, start, end: valueEnd(bytes, start) };
}

function valueEnd(bytes: Buffer, start: number): number {
  const end = afterValue(bytes, start);
  if (end === -1) throw brokenJson();
  return end;
}

/** Where a key stands twice, the last one counts, as it does for JSON.parse. */
export function findMember(container: JsonContainer, key: string | number): JsonMember | undefined {
  return container.members.findLast((member) => member.key === key);
}

function brokenJson(): JsonError {
  return new JsonError('syntax', 'This is not valid JSON: it breaks off, or a comma is missing.');
}
