import { tooDeep } from './error.ts';

/** Steps over raw JSON bytes that checking and editing share. A result of -1 means that the text ends too early. */

const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** A native search costs as much as stepping over about this many bytes. */
const STEPPED_BYTES = 16;
/** Escaped quotes closer together than this are stepped over one by one, instead of starting a search for each. */
const DENSE_BYTES = 8;

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function afterSpace(bytes: Buffer, from: number): number {
  const length = bytes.length;
  let at = from;
  while (at < length && bytes[at]! <= SPACE && isSpace(bytes[at])) at++;
  return at;
}

/** The JSON text being read. */
export interface JsonSource {
  readonly bytes: Buffer;
  /** The same text as a string if every byte is one character: searching a string is faster than searching a buffer. */
  readonly ascii: string | null;
}

export function sourceOf(bytes: Buffer, text: string): JsonSource {
  return { bytes, ascii: text.length === bytes.length ? text : null };
}

/** Steps over short strings byte by byte and searches long ones natively, so that a megabyte of base64 is cheap. */
export function afterString({ bytes, ascii }: JsonSource, openingQuote: number): number {
  const length = bytes.length;
  let at = openingQuote + 1;
  let isDense = true;
  while (at < length) {
    const near = isDense ? Math.min(at + STEPPED_BYTES, length) : at;
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = ascii === null ? bytes.indexOf(QUOTE, at) : ascii.indexOf('"', at);
    if (quote === -1) return -1;
    if (!isEscaped(bytes, at, quote)) return quote + 1;
    isDense = quote - at < DENSE_BYTES;
    at = quote + 1;
  }
  return -1;
}

function isEscaped(bytes: Buffer, from: number, quote: number): boolean {
  let at = quote;
  while (at > from && bytes[at - 1] === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}

/** Steps over one value of valid JSON; throws if it is nested more deeply than allowed. */
export function afterValue(source: JsonSource, from: number, depthMax = Number.POSITIVE_INFINITY): number {
  const { bytes } = source;
  const length = bytes.length;
  let depth = 0;
  let at = from;
  while (at !== -1 && at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = afterString(source, at);
      if (depth === 0) return at;
      continue;
    }
    // Brackets and braces differ in one bit.
    const bracket = byte | 0x20;
    if (bracket === OPEN_BRACE) {
      if (++depth > depthMax) throw tooDeep();
    } else if (bracket === CLOSE_BRACE) {
      if (--depth === 0) return at + 1;
    } else if (depth === 0) return afterScalar(bytes, at);
    at++;
  }
  return -1;
}

function afterScalar(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && !endsScalar(bytes[at])) at++;
  return at;
}

function endsScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

/** The text between two quotes with its escapes resolved; JSON.parse refuses invalid escapes elsewhere. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\\') ? text.replace(ESCAPE, unescapeOne) : text;
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeOne(_: string, hex: string | undefined, letter: string): string {
  return hex === undefined ? (CONTROL_ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16));
}
