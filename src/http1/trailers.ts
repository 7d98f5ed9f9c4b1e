import { readHeaderText } from './headers.ts';

/**
 * Fields that change where a message ends, where it goes, who sends it or how its body is read (RFC 9110, section
 * 6.5.1). In a trailer they would come after those decisions were made, and a parser that merges trailers into the
 * headers would read another message than we do.
 */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'keep-alive',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'www-authenticate',
  'x-api-key',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);

/** True if this line, without its line end, is a header line that may follow a body. */
export function isTrailerLine(line: string): boolean {
  const fields = readHeaderText(line);
  if (fields === null) return false;
  for (const name in fields) if (HEAD_ONLY.has(name)) return false;
  return true;
}
