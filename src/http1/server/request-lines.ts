import type { BodyFraming } from '../body.ts';
import { readHeaderLines } from '../headers.ts';

/** What the head of a request says, before anyone asks whether it may. */
export interface RequestLines {
  readonly method: string;
  /** The target as it was written. */
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Names and values in turn, as they were written. */
  readonly rawHeaders: readonly string[];
  /** Names in lower case; what stands twice is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null where it cannot be told: such a request is refused, and nothing behind it is read. */
  readonly framing: BodyFraming | null;
}

/** Whether anyone answers to it is for the router to say. */
const METHOD = /^[A-Z][A-Z-]{0,30}$/;
const NOT_IN_TARGET = /[^\x21-\x7e\x80-\xff]/;
const VERSION = /^HTTP\/(\d)\.(\d)$/;
const LENGTH = /^\d{1,15}$/;

/** Reads a head, without the empty line that ends it; null if these are no lines of a request. */
export function readRequestLines(text: string): RequestLines | null {
  const lineEnd = text.indexOf('\r\n');
  const line = lineEnd === -1 ? text : text.slice(0, lineEnd);
  const methodEnd = line.indexOf(' ');
  const targetEnd = line.lastIndexOf(' ');
  const method = line.slice(0, methodEnd);
  const url = line.slice(methodEnd + 1, targetEnd);
  const version = versionOf(line.slice(targetEnd + 1));
  if (version === null || url === '' || NOT_IN_TARGET.test(url) || !isMethod(method)) return null;
  const rawHeaders: string[] = [];
  const headers = readHeaderLines(text, lineEnd === -1 ? text.length : lineEnd + 2, rawHeaders);
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
  const said = VERSION.exec(text);
  return said === null ? null : [Number(said[1]), Number(said[2])];
}

/** Two rules at once, or a length that is none, are no request: whoever chooses may choose otherwise than a proxy did. */
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

/** False as soon as a head that begins so can become none: no upper-case word first, or a line that ends otherwise. */
export function mayBecomeHead(begun: string): boolean {
  return /^[A-Z]/.test(begun) && mayContinueHead(begun);
}

/** The same of what came later, and the byte before it. */
export function mayContinueHead(text: string): boolean {
  return !/[^\t\r\n\x20-\x7e\x80-\xff]|[^\r]\n|\r[^\n]/.test(text);
}
