import { inOnePiece } from '../../kit/one-piece.ts';
import type { OutgoingRequest } from '../client.ts';
import { headerLines } from '../headers.ts';

/** A host's headers are the same object for every call, so their text is made once. */
const LINES_OF = new WeakMap<OutgoingRequest['headers'], string>();

/** Head and body in one buffer, so that they leave in one write. */
export function requestBytes({ origin, method = 'POST', path, headers, body }: OutgoingRequest): Buffer {
  const start = `${method} ${path} HTTP/1.1\r\nhost: ${origin.slice(origin.indexOf('//') + 2)}\r\nconnection: keep-alive\r\n`;
  const length = body === null ? '' : `content-length: ${body.length}\r\n`;
  const head = `${start}${linesOf(headers)}${length}\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + (body?.length ?? 0));
  bytes.write(head, 'latin1');
  body?.copy(bytes, head.length);
  return bytes;
}

function linesOf(headers: OutgoingRequest['headers']): string {
  let lines = LINES_OF.get(headers);
  if (lines === undefined) {
    lines = inOnePiece(headerLines(headers));
    LINES_OF.set(headers, lines);
  }
  return lines;
}
