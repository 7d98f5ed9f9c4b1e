import { GatewayError } from '../canonical/errors.ts';
import { MODEL_PATH } from './path-aliases.ts';

const PERCENT = 0x25;
const DOT = 0x2e;
const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;

const TWO_SLASHES =
  'must not have two slashes in a row; if the base URL in the settings of your client ends in one, take it out';

/**
 * Refuses, rather than normalises, a path that a proxy in front of us could read as a different one: a proxy that allows
 * requests by path must mean the path we serve. The query only has to be ASCII.
 */
export function checkTarget(target: string): GatewayError | null {
  if (target.charCodeAt(0) !== SLASH) return badTarget('must be a path that begins with a slash');
  let segmentStart = 1;
  for (let at = 1; ; at++) {
    const code = at < target.length ? target.charCodeAt(at) : QUESTION_MARK;
    if (code === SLASH && at === segmentStart) return badTarget(TWO_SLASHES);
    if (code === SLASH || code === QUESTION_MARK) {
      if (isDots(target, segmentStart, at)) return badTarget('must not have "." or ".." as a segment');
      if (code === QUESTION_MARK) return at < target.length ? checkQuery(target.slice(at)) : null;
      segmentStart = at + 1;
    } else if (code === PERCENT) {
      const byte = escapedByte(target, at);
      const fault = faultOfEscape(byte, target);
      if (fault !== null) return badTarget(fault);
      if (byte === SLASH && isDots(target, segmentStart, at))
        return badTarget('must not have "." or ".." as a segment');
      at += 2;
      if (byte === SLASH) segmentStart = at + 1;
    } else if (code <= 0x20 || code >= DELETE || code === BACKSLASH || code === HASH) {
      return badTarget('must not have a backslash, a # or a character that needs escaping');
    }
  }
}

function checkQuery(query: string): GatewayError | null {
  return /[^!-~]/.test(query) ? badTarget('must not have a character in its query that needs escaping') : null;
}

function isDots(target: string, start: number, end: number): boolean {
  const length = end - start;
  if (length !== 1 && length !== 2) return false;
  return target.charCodeAt(start) === DOT && target.charCodeAt(end - 1) === DOT;
}

/** The byte that an escape such as `%41` stands for; -1 if two hexadecimal digits do not follow. */
function escapedByte(target: string, percent: number): number {
  const high = hexDigit(target.charCodeAt(percent + 1));
  const low = hexDigit(target.charCodeAt(percent + 2));
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

function faultOfEscape(byte: number, target: string): string | null {
  if (byte === -1) return 'has a % without two hexadecimal digits after it';
  if (byte < 0x20 || byte === DELETE) return 'must not have an escaped control character';
  if (byte === DOT) return 'must not have an escaped dot; write "."';
  if (byte === BACKSLASH) return 'must not have an escaped backslash';
  if (byte === SLASH && !MODEL_PATH.test(target)) return 'must not have an escaped slash outside a model id';
  return null;
}

function badTarget(fault: string): GatewayError {
  return new GatewayError('bad_request', { message: `The path of this request ${fault}.` });
}
