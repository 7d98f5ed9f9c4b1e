const CRLF = '\r\n';
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Control characters other than the tab. */
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/;
const TAB = 0x09;
const SPACE = 0x20;

/** Refused with a tab beside its value: some parsers count the tab as part of it and read another body. */
const CODING = 'transfer-encoding';

/**
 * Reads header lines from `from` to the end of the text, which does not include the final empty line. Names come in
 * lower case, repeated values joined by commas; `raw` receives names and values as they were sent. Null if a line is
 * malformed.
 */
export function readHeaderLines(
  text: string,
  from: number,
  raw: string[] | null = null,
): Record<string, string> | null {
  const headers = new Fields();
  for (let at = from; at < text.length; ) {
    const next = text.indexOf(CRLF, at);
    const end = next === -1 ? text.length : next;
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon >= end) return null;
    const known = wellKnown(text, at, colon);
    const written = known?.written ?? text.slice(at, colon);
    const name = known?.name ?? lowerCase(written);
    const value = trimmed(text, colon + 1, end);
    if (name === null || CONTROL.test(value)) return null;
    if (name === CODING && text.slice(colon, end).includes('\t')) return null;
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    raw?.push(written, value);
    at = end + CRLF.length;
  }
  return headers;
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

const TOKEN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => (NAME.test(String.fromCharCode(byte)) ? 1 : 0));

/** True for a byte that may stand in a header's name and in other tokens of HTTP. */
export function isTokenByte(byte: number): boolean {
  return TOKEN_BYTES[byte] === 1;
}

function lowerCase(name: string): string | null {
  return NAME.test(name) ? name.toLowerCase() : null;
}

/** The value without the spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** True if this `Connection` header ends the connection after its message. */
export function saysClose(connection: string | undefined): boolean {
  return connection !== undefined && /(?:^|[ \t,])close(?:$|[ \t,])/i.test(connection);
}

interface KnownName {
  readonly written: string;
  readonly name: string;
}

/** Common header names by their length: looking one up is cheaper than checking its characters. */
const WELL_KNOWN: readonly (readonly KnownName[] | undefined)[] = byLength(
  [
    'Accept',
    'Accept-Encoding',
    'Accept-Language',
    'Authorization',
    'Cache-Control',
    'Connection',
    'Content-Length',
    'Content-Type',
    'Date',
    'Host',
    'Keep-Alive',
    'Transfer-Encoding',
    'User-Agent',
    'X-Api-Key',
    'X-Request-Id',
  ].flatMap((written) => [written.toLowerCase(), written]),
);

function byLength(names: readonly string[]): KnownName[][] {
  const known: KnownName[][] = [];
  for (const written of names) {
    const ofLength = known[written.length] ?? [];
    ofLength.push({ written, name: written.toLowerCase() });
    known[written.length] = ofLength;
  }
  return known;
}

function wellKnown(text: string, at: number, colon: number): KnownName | undefined {
  const ofLength = WELL_KNOWN[colon - at];
  if (ofLength === undefined) return undefined;
  for (const known of ofLength) if (text.startsWith(known.written, at)) return known;
  return undefined;
}
