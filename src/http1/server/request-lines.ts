import type { BodyFraming } from '../body.ts';
import { endOfFirstLine, readHeaderLines } from '../headers.ts';

/** The head of a request as it was sent; whether it is allowed is decided elsewhere. */
export interface RequestLines {
  readonly method: string;
  /** The target as it was sent. */
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Names in lower case; repeated values are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the end of the body is unknown: the request is refused and the connection closed. */
  readonly framing: BodyFraming | null;
}

/** Any method of this form is accepted; the router decides whether it exists. */
const METHOD = /^[A-Z][A-Z-]{0,30}$/;
const NOT_IN_TARGET = /[^\x21-\x7e\x80-\xff]/;
const VERSION = /^HTTP\/(\d)\.(\d)$/;
const LENGTH = /^\d{1,15}$/;

/** Reads the head that the first bytes are, without the empty line that ends it; null if it is malformed. */
export function readRequestLines(bytes: Buffer, length = bytes.length): RequestLines | null {
  const text = bytes.toString('latin1', 0, length);
  const lineEnd = endOfFirstLine(bytes, length);
  const line = text.slice(0, lineEnd);
  const methodEnd = line.indexOf(' ');
  const targetEnd = line.lastIndexOf(' ');
  const method = line.slice(0, methodEnd);
  const url = line.slice(methodEnd + 1, targetEnd);
  const version = versionOf(line.slice(targetEnd + 1));
  if (version === null || url === '' || NOT_IN_TARGET.test(url) || !isMethod(method)) return null;
  const rawHeaders: string[] = [];
  const headers = readHeaderLines(text, bytes, lineEnd + 2, rawHeaders);
  if (headers === null) return null;
  const [httpVersionMajor, httpVersionMinor] = version;
  const framing = framingOf(headers, version);
  if (framing === 'contradictory') return null;
  return { method, url, httpVersionMajor, httpVersionMinor, rawHeaders, headers, framing };
}

function isMethod(text: string): boolean {
  return text === 'POST' || text === 'GET' || METHOD.test(text);
}

type Version = readonly [major: number, minor: number];
const HTTP_1_1: Version = [1, 1];

function versionOf(text: string): Version | null {
  if (text === 'HTTP/1.1') return HTTP_1_1;
  const match = VERSION.exec(text);
  return match === null ? null : [Number(match[1]), Number(match[2])];
}

/** Contradictory framing makes the request malformed: a proxy in front of us may have chosen the other reading. */
function framingOf(
  headers: Readonly<Record<string, string>>,
  [major, minor]: Version,
): BodyFraming | null | 'contradictory' {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  const isKnownVersion = major === 1 && minor <= 1;
  if (coding === undefined) {
    if (length !== undefined && !LENGTH.test(length)) return 'contradictory';
    return isKnownVersion ? Number(length ?? 0) : null;
  }
  if (length !== undefined || !/(?:^|[ ,])chunked$/i.test(coding)) return 'contradictory';
  return coding.toLowerCase() === 'chunked' && isKnownVersion && minor === 1 ? 'chunked' : null;
}

/** False as soon as these first bytes cannot become a head: no upper-case letter first, or a bare CR or LF. */
export function mayBecomeHead(begun: string): boolean {
  return /^[A-Z]/.test(begun) && mayContinueHead(begun);
}

/** The same check for later bytes, given with the byte before them. */
export function mayContinueHead(text: string): boolean {
  return !/[^\t\r\n\x20-\x7e\x80-\xff]|[^\r]\n|\r[^\n]/.test(text);
}
