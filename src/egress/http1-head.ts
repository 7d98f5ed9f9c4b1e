import type { IncomingHttpHeaders } from 'node:http';

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; what stands twice is joined by commas. */
  readonly headers: IncomingHttpHeaders;
  /** How the body ends: after so many bytes, with its last chunk, or with the connection. */
  readonly framing: number | 'chunked' | 'until-close';
  readonly keepsConnection: boolean;
  readonly keepAliveMs: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Anything but text, spaces and tabs; a line of an answer's head holds no control characters. */
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_SECONDS = /(?:^|[ ,])timeout=(\d{1,6})(?:$|[ ,])/i;

/** Reads the head of an answer, without the empty line that ends it; words say why it is none. */
export function readAnswerHead(text: string): AnswerHead | string {
  const firstEnd = text.indexOf('\r\n');
  const status = STATUS_LINE.exec(firstEnd === -1 ? text : text.slice(0, firstEnd));
  if (status === null) return 'The host does not speak HTTP/1.1.';
  const headers = firstEnd === -1 ? {} : readHeaders(text, firstEnd + 2);
  if (typeof headers === 'string') return headers;
  const code = Number(status[2]);
  if (code === 101) return 'The host changes to another protocol, unasked.';
  const framing = framingOf(code, headers);
  if (framing === null) return 'The answer does not say clearly where it ends.';
  const keepsConnection =
    status[1] === '1' && framing !== 'until-close' && !saysClose(headers.connection) && !mayTrail(framing, headers);
  return { status: code, headers, framing, keepsConnection, keepAliveMs: keepAliveMs(headers['keep-alive']) };
}

function readHeaders(text: string, from: number): Record<string, string> | string {
  const headers: Record<string, string> = Object.create(null);
  for (let at = from; at < text.length; ) {
    const next = text.indexOf('\r\n', at);
    const end = next === -1 ? text.length : next;
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon >= end) return 'A header of the answer has no value.';
    const name = text.slice(at, colon).toLowerCase();
    const value = text.slice(colon + 1, end).trim();
    if (!NAME.test(name) || CONTROL.test(value)) return 'A header of the answer holds what no header may.';
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    at = end + 2;
  }
  return headers;
}

/** Null where two rules could be meant: whoever chooses may choose wrongly. */
function framingOf(status: number, headers: Record<string, string>): AnswerHead['framing'] | null {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && length === undefined ? 'chunked' : null;
  if (length === undefined) return 'until-close';
  return LENGTH.test(length) ? Number(length) : null;
}

/** A body was announced where none may be: should it come all the same, the next call must not take it for its answer. */
function mayTrail(framing: AnswerHead['framing'], headers: Record<string, string>): boolean {
  if (framing !== 0) return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function saysClose(connection: string | undefined): boolean {
  return connection !== undefined && /(?:^|[ ,])close(?:$|[ ,])/i.test(connection);
}

function keepAliveMs(value: string | undefined): number | null {
  const seconds = value === undefined ? null : KEEP_ALIVE_SECONDS.exec(value);
  return seconds === null ? null : Number(seconds[1]) * 1000;
}
