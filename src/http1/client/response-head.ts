import type { IncomingHttpHeaders } from 'node:http';
import type { BodyFraming } from '../body.ts';
import { endOfFirstLine, readHeaderLines, saysClose } from '../headers.ts';

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; repeated values are joined by commas. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly framing: BodyFraming;
  readonly keepsConnection: boolean;
  readonly keepAliveMs: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** The first line of nearly every response; comparing it is faster than the pattern. */
const USUAL_LINE = 'HTTP/1.1 200 OK';
const USUAL_STATUS = STATUS_LINE.exec(USUAL_LINE)!;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_SECONDS = /(?:^|[ ,])timeout=(\d{1,6})(?:$|[ ,])/i;

const INTERIM_CLOSES = 'The host sent an interim response that ends the connection.';

/** Reads the head that the first bytes are, without the empty line that ends it; a string says why it is malformed. */
export function readResponseHead(bytes: Buffer, length: number): ResponseHead | string {
  const text = bytes.toString('latin1', 0, length);
  const lineEnd = endOfFirstLine(bytes, length);
  const line = text.slice(0, lineEnd);
  const status = line === USUAL_LINE ? USUAL_STATUS : STATUS_LINE.exec(line);
  if (status === null) return 'The host did not answer in HTTP/1.1: its status line is malformed.';
  const headers = readHeaderLines(text, bytes, lineEnd + 2);
  if (headers === null) return 'The response has a malformed header line.';
  const code = Number(status[2]);
  if (code === 101) return 'The host switched to another protocol without being asked.';
  if (code < 200 && (status[1] === '0' || saysClose(headers.connection))) return INTERIM_CLOSES;
  const framing = framingOf(code, headers);
  if (framing === null)
    return 'The response has contradictory or invalid content-length and transfer-encoding headers.';
  const keepsConnection =
    status[1] === '1' &&
    // A host may send an error before it has read the whole request, and take the rest for the next one.
    code >= 200 &&
    code < 300 &&
    framing !== 'until-close' &&
    !saysClose(headers.connection) &&
    !mayTrail(framing, headers);
  return { status: code, headers, framing, keepsConnection, keepAliveMs: keepAliveMs(headers['keep-alive']) };
}

/** Null if the headers contradict each other, or one of them is invalid: choosing a reading would be a guess. */
function framingOf(status: number, headers: Record<string, string>): BodyFraming | null {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined && (length !== undefined || coding.toLowerCase() !== 'chunked')) return null;
  if (length !== undefined && !LENGTH.test(length)) return null;
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return 'chunked';
  return length === undefined ? 'until-close' : Number(length);
}

/** True if a body was announced where none is allowed: if it comes, the next call must not read it as its response. */
function mayTrail(framing: BodyFraming, headers: Record<string, string>): boolean {
  if (framing !== 0) return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function keepAliveMs(value: string | undefined): number | null {
  const seconds = value === undefined ? null : KEEP_ALIVE_SECONDS.exec(value);
  return seconds === null ? null : Number(seconds[1]) * 1000;
}
