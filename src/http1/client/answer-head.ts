import type { IncomingHttpHeaders } from 'node:http';
import type { BodyFraming } from '../body.ts';
import { readHeaderLines, saysClose } from '../headers.ts';

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; what stands twice is joined by commas. */
  readonly headers: IncomingHttpHeaders;
  readonly framing: BodyFraming;
  readonly keepsConnection: boolean;
  readonly keepAliveMs: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** As nearly every answer begins; the pattern takes longer. */
const USUAL_LINE = 'HTTP/1.1 200 OK';
const USUAL_STATUS = STATUS_LINE.exec(USUAL_LINE)!;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_SECONDS = /(?:^|[ ,])timeout=(\d{1,6})(?:$|[ ,])/i;

/** Reads the head of an answer, without the empty line that ends it; words say why it is none. */
export function readAnswerHead(text: string): AnswerHead | string {
  const firstEnd = text.indexOf('\r\n');
  const line = firstEnd === -1 ? text : text.slice(0, firstEnd);
  const status = line === USUAL_LINE ? USUAL_STATUS : STATUS_LINE.exec(line);
  if (status === null) return 'The host does not speak HTTP/1.1.';
  const headers = firstEnd === -1 ? {} : readHeaderLines(text, firstEnd + 2);
  if (headers === null) return 'A header of the answer is none that HTTP knows.';
  const code = Number(status[2]);
  if (code === 101) return 'The host changes to another protocol, unasked.';
  const framing = framingOf(code, headers);
  if (framing === null) return 'The answer does not say clearly where it ends.';
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

/** Null where two rules could be meant: whoever chooses may choose wrongly. */
function framingOf(status: number, headers: Record<string, string>): BodyFraming | null {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && length === undefined ? 'chunked' : null;
  if (length === undefined) return 'until-close';
  return LENGTH.test(length) ? Number(length) : null;
}

/** A body was announced where none may be: should it come all the same, the next call must not take it for its answer. */
function mayTrail(framing: BodyFraming, headers: Record<string, string>): boolean {
  if (framing !== 0) return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function keepAliveMs(value: string | undefined): number | null {
  const seconds = value === undefined ? null : KEEP_ALIVE_SECONDS.exec(value);
  return seconds === null ? null : Number(seconds[1]) * 1000;
}
