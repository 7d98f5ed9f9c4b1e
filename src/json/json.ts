import { isUtf8 } from 'node:buffer';
import { LIMITS } from '../limits.ts';
import { buildJson } from './build.ts';
import { afterSpace, BACKSLASH, type JsonSource, QUOTE, sourceOf } from './bytes.ts';
import {
  findMember,
  type JsonContainer,
  JsonContainers,
  type JsonPath,
  type JsonSpan,
  readContainer,
} from './container.ts';
import { isTooDeep } from './depth.ts';
import { JsonEdit } from './edit.ts';
import { describePlace, JsonError, tooDeep } from './error.ts';
import { buildExact } from './exact.ts';
import { checkStructure, type JsonLimits, type JsonStructure, type JsonWork, pathAt } from './structure.ts';

export type { JsonPath } from './container.ts';
export { type JsonEdit, JsonEditError } from './edit.ts';
export { JsonError } from './error.ts';
export { isWrittenNumber } from './exact.ts';
export type { JsonLimits, JsonWork } from './structure.ts';

/** JSON as it was sent, with its value. Changes edit the bytes instead of writing them again. */
export class JsonText {
  readonly bytes: Buffer;
  readonly value: unknown;
  readonly #containers: JsonContainers;

  constructor(bytes: Buffer, value: unknown, root: JsonContainer | null) {
    this.bytes = bytes;
    this.value = value;
    this.#containers = new JsonContainers(bytes, root);
  }

  locate(path: JsonPath): JsonSpan | null {
    return this.#containers.locate(path);
  }

  /** A member of the outermost object to be written again, with every digit of its numbers. */
  exactMember(name: string): unknown {
    const span = this.locate([name]);
    if (span === null) return undefined;
    const exact = buildExact(this.bytes.subarray(span.start, span.end), JSON.parse);
    return exact === null ? (this.value as Record<string, unknown>)[name] : exact.value;
  }

  edit(): JsonEdit {
    return new JsonEdit(this.#containers);
  }
}

/** Finds the value at a path in valid JSON; null if there is none. */
export function locateJson(bytes: Buffer, path: JsonPath): JsonSpan | null {
  return new JsonContainers(bytes).locate(path);
}

/** Starts an edit of valid JSON. */
export function editJson(bytes: Buffer): JsonEdit {
  return new JsonEdit(new JsonContainers(bytes));
}

export function parseJson(text: string): unknown {
  if (isTooDeep(text, LIMITS.hostJsonDepthMax)) throw tooDeep();
  return parseAtAnyDepth(text);
}

function parseAtAnyDepth(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonError('syntax', `This is not valid JSON: ${withoutQuotation((error as Error).message)}.`);
  }
}

/** Undefined if the text is not JSON; no JSON value is undefined. */
export function tryParseJson(text: string): unknown | undefined {
  if (isTooDeep(text, LIMITS.hostJsonDepthMax)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same for a value that is written again, with every digit of its numbers. */
export function tryParseExact(text: string): unknown | undefined {
  const value = tryParseJson(text);
  const exact = value === undefined ? null : buildExact(Buffer.from(text), JSON.parse);
  return exact === null ? value : exact.value;
}

/**
 * The length in UTF-8 of the string between two quotes of a JSON text. It is parsed only if it has escapes or bytes outside
 * ASCII, of which invalid ones become another character. Null if these bytes are not the whole inside of a string.
 */
export function jsonStringBytes(bytes: Buffer, start: number, end: number): number | null {
  if (end < start) return null;
  if (isPlainAscii(bytes, start, end) && bytes[start - 1] === QUOTE && bytes[end] === QUOTE) return end - start;
  const text = readJsonString(bytes, start, end);
  return text === null ? null : Buffer.byteLength(text);
}

function readJsonString(bytes: Buffer, start: number, end: number): string | null {
  if (bytes[start - 1] !== QUOTE || bytes[end] !== QUOTE) return null;
  try {
    return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;
  } catch {
    return null;
  }
}

function isPlainAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) return false;
  }
  return true;
}

/**
 * Reads untrusted JSON. It must be UTF-8 without a byte order mark, within the limits, and without duplicate keys,
 * even if their escapes differ: one parser would use the first and another the last. Linear in time for any input.
 */
export function scanJson(bytes: Buffer, limits: JsonLimits, work?: JsonWork): JsonText {
  return checkJson(bytes, limits, work).parse();
}

/** The first half of `scanJson`: everything but the insides of strings is checked, and nothing is built. */
export function checkJson(bytes: Buffer, limits: JsonLimits, work?: JsonWork): CheckedJson {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new JsonError('byte_order_mark', 'The text begins with a byte order mark. Send it without one.');
  }
  if (!isUtf8(bytes)) throw new JsonError('invalid_utf8', 'The text is not valid UTF-8. Encode it as UTF-8.');
  const text = bytes.toString();
  const source = sourceOf(bytes, text);
  return new CheckedJson(source, text, checkStructure(source, limits, work), limits);
}

/** Escapes, and what must not be in a string. */
const NOT_PLAIN = /\\|[^ -\uffff]/;

/** JSON whose structure is valid. Members can be looked at before the rest is parsed, which costs more. */
export class CheckedJson {
  readonly #source: JsonSource;
  readonly #text: string;
  readonly #structure: JsonStructure;
  readonly #limits: JsonLimits;

  constructor(source: JsonSource, text: string, structure: JsonStructure, limits: JsonLimits) {
    this.#source = source;
    this.#text = text;
    this.#structure = structure;
    this.#limits = limits;
  }

  /** A string of the outermost object; null if there is none, if it is not plain text, or if it is longer than this. */
  plainString(key: string, bytesMax: number): string | null {
    const { root } = this.#structure;
    const { bytes } = this.#source;
    const member = root === null ? undefined : findMember(bytes, root, key);
    if (member === undefined || bytes[member.start] !== QUOTE || member.end - member.start - 2 > bytesMax) return null;
    const text = bytes.toString('utf8', member.start + 1, member.end - 1);
    return NOT_PLAIN.test(text) ? null : text;
  }

  parse(): JsonText {
    const { hasEscapedKeys, root } = this.#structure;
    const { bytes } = this.#source;
    const value = parseChecked(this.#source, this.#text, this.#limits);
    return new JsonText(bytes, hasEscapedKeys ? buildJson(bytes, JSON.parse) : value, root);
  }
}

/** Reads JSON from a trusted source, such as a host's response; of duplicate keys the last counts. */
export function readJson(bytes: Buffer): JsonText {
  const text = bytes.toString();
  const value = parseAtAnyDepth(text);
  const source = sourceOf(bytes, text);
  // One pass finds the members and refuses nesting that is too deep.
  return new JsonText(bytes, value, readContainer(source, afterSpace(bytes, 0), LIMITS.hostJsonDepthMax));
}

/** Once the structure is checked, only the inside of a string can still be invalid. */
function parseChecked(source: JsonSource, text: string, limits: JsonLimits): unknown {
  const { bytes } = source;
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = Number(/at position (\d+)/.exec((error as Error).message)?.[1] ?? 0);
    const at = Buffer.byteLength(text.slice(0, position));
    const cause = `a string has a raw control character or a wrong escape ${describePlace(bytes, at)}`;
    const remedy = 'Write a line break as \\n and a backslash as \\\\.';
    throw new JsonError('syntax', `This is not valid JSON: ${cause}. ${remedy}`, pathAt(source, at, limits));
  }
}

/** V8 may quote the text around the error, and request text must not reach messages or logs. */
function withoutQuotation(message: string): string {
  return message.replace(/,? ?(?:\.{3})?"[\s\S]*"(?:\.{3})? is not valid JSON$/, '');
}
