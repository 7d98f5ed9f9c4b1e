/** The few moves over raw JSON bytes that checking and editing share. A result of -1 means that the text ends too early. */

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

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function afterSpace(bytes: Buffer, from: number): number {
  const length = bytes.length;
  let at = from;
  while (at < length && bytes[at]! <= SPACE && isSpace(bytes[at])) at++;
  return at;
}

/** Steps over short strings and searches long ones natively, so that a megabyte of base64 costs next to nothing. */
export function afterString(bytes: Buffer, openingQuote: number): number {
  const length = bytes.length;
  let at = openingQuote + 1;
  while (at < length) {
    const near = Math.min(at + STEPPED_BYTES, length);
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return -1;
    if (!isEscaped(bytes, at, quote)) return quote + 1;
    at = quote + 1;
  }
  return -1;
}

function isEscaped(bytes: Buffer, from: number, quote: number): boolean {
  let at = quote;
  while (at > from && bytes[at - 1] === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}

/** Steps over one value of JSON known to be valid. */
export function afterValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at !== -1 && at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = afterString(bytes, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      at++;
      continue;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      at++;
    } else if (depth === 0) return afterScalar(bytes, at);
    else {
      at++;
      continue;
    }
    if (depth === 0) return at;
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

/** The text between two quotes, escapes resolved; wrong escapes are for JSON.parse to refuse. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\\') ? text.replace(ESCAPE, unescapeOne) : text;
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeOne(_: string, hex: string | undefined, letter: string): string {
  return hex === undefined ? (CONTROL_ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16));
}
