const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
/** Control characters other than the tab. */
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/;
/** For each byte that a name may have, the same in lower case; 0 for any other. */
const NAME_BYTES = byteTable((text) => (/[!#$%&'*+.^_`|~\w-]/.test(text) ? text.toLowerCase().charCodeAt(0) : 0));
const VALUE_BYTES = byteTable((text) => (CONTROL.test(text) ? 0 : 1));

/** Refused with a tab beside its value: some parsers count the tab as part of it and read another body. */
const CODING = 'transfer-encoding';

/**
 * Reads the header lines from `from` to the end of the text. The bytes are those of the text and may go on behind it, but
 * not with a line feed. Names come in lower case, repeated values joined by commas; `raw` receives names and values as they
 * were sent. Null if a line is malformed. Stepping over bytes takes a quarter of the time of patterns and searches.
 */
export function readHeaderLines(
  text: string,
  bytes: Buffer,
  from: number,
  raw: string[] | null = null,
): Record<string, string> | null {
  const headers = new Fields();
  const to = text.length;
  for (let at = from; at < to; ) {
    const colon = endOf(NAME_BYTES, bytes, at, to);
    if (colon === at || colon === to || bytes[colon] !== COLON) return null;
    const end = endOf(VALUE_BYTES, bytes, colon + 1, to);
    if (end < to && (bytes[end] !== CR || bytes[end + 1] !== LF)) return null;
    const name = wellKnown(bytes, at, colon) ?? text.slice(at, colon).toLowerCase();
    const value = trimmed(text, bytes, colon + 1, end);
    if (name === CODING && text.slice(colon, end).includes('\t')) return null;
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    raw?.push(isLowerCase(bytes, at, colon) ? name : text.slice(at, colon), value);
    at = end + 2;
  }
  return headers;
}

/** The same for lines that are only text. Null too if a character is none of a header, which has one byte each. */
export function readHeaderText(lines: string): Record<string, string> | null {
  return WIDE.test(lines) ? null : readHeaderLines(lines, Buffer.from(lines, 'latin1'), 0);
}

/** Characters that take more than one byte. */
const WIDE = /[\u0100-\uffff]/;

/** The first byte from `at` on that the table does not have. */
function endOf(table: Uint8Array, bytes: Buffer, at: number, to: number): number {
  let end = at;
  while (end < to && table[bytes[end]!] !== 0) end++;
  return end;
}

/** Whether these bytes of a name are in lower case. */
function isLowerCase(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (NAME_BYTES[bytes[at]!] !== bytes[at]) return false;
  return true;
}

function byteTable(numberOf: (text: string) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => numberOf(String.fromCharCode(byte)));
}

/** Objects without a prototype, so that a header may be called `__proto__`; faster than `Object.create(null)`. */
const Fields = function Fields() {} as unknown as new () => Record<string, string>;
Fields.prototype = Object.create(null);

/** Writes one header line. A control character in the value could end the line, so it is a bug of the caller. */
export function headerLine(name: string, value: string): string {
  if (CONTROL.test(value)) throw new Error(`The header ${name} has a control character in its value.`);
  return `${name}: ${value}\r\n`;
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) lines += headerLine(name, headers[name]!);
  return lines;
}

/** True for a byte that may stand in a header's name and in other tokens of HTTP. */
export function isTokenByte(byte: number): boolean {
  return NAME_BYTES[byte]! > 0;
}

/** The value without the spaces and tabs around it. */
function trimmed(text: string, bytes: Buffer, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(bytes[start]!)) start++;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return text.slice(start, end);
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** Where the first line of a head ends; the bytes may go on behind the head, but not with a line feed. */
export function endOfFirstLine(bytes: Buffer, to: number): number {
  let end = 0;
  while (end < to && (bytes[end] !== CR || bytes[end + 1] !== LF)) end++;
  return end;
}

/** True if this `Connection` header ends the connection after its message. */
export function saysClose(connection: string | undefined): boolean {
  return connection !== undefined && /(?:^|[ \t,])close(?:$|[ \t,])/i.test(connection);
}

interface KnownName {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Names that clients and hosts send often, by their length: finding one is cheaper than making it from the bytes. */
const WELL_KNOWN: readonly (readonly KnownName[] | undefined)[] = byLength([
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'forwarded',
  'host',
  'idempotency-key',
  'keep-alive',
  'retry-after',
  'sec-fetch-mode',
  'server',
  'strict-transport-security',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'x-api-key',
  'x-app',
  'x-content-type-options',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
  'x-stainless-arch',
  'x-stainless-helper-method',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
]);

function byLength(names: readonly string[]): KnownName[][] {
  const known: KnownName[][] = [];
  for (const name of names) {
    const ofLength = known[name.length] ?? [];
    ofLength.push({ name, bytes: Buffer.from(name) });
    known[name.length] = ofLength;
  }
  return known;
}

/** In lower case; undefined if the name is not well known. */
function wellKnown(bytes: Buffer, at: number, colon: number): string | undefined {
  const ofLength = WELL_KNOWN[colon - at];
  if (ofLength === undefined) return undefined;
  for (const known of ofLength) if (isSame(known.bytes, bytes, at)) return known.name;
  return undefined;
}

function isSame(name: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < name.length; index++) {
    if (NAME_BYTES[bytes[at + index]!] !== name[index]) return false;
  }
  return true;
}
