import { inOnePiece } from '../../kit/one-piece.ts';
import type { OutgoingRequest } from '../client.ts';
import { headerLines } from '../headers.ts';

/** All of a head but the length of the body, and the requests that have it. */
interface KnownHead {
  readonly origin: string;
  readonly method: OutgoingRequest['method'];
  readonly path: string;
  readonly text: string;
}

/** A host's headers are the same object for every call, and go to few paths. */
const HEADS_OF = new WeakMap<OutgoingRequest['headers'], KnownHead[]>();
const HEADS_MAX = 8;

/** Head and body in one buffer, so that they leave in one write. */
export function requestBytes(request: OutgoingRequest): Buffer {
  const { body } = request;
  const length = body === null ? '' : `content-length: ${body.length}\r\n`;
  const head = `${headOf(request)}${length}\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + (body?.length ?? 0));
  bytes.write(head, 'latin1');
  body?.copy(bytes, head.length);
  return bytes;
}

function headOf(request: OutgoingRequest): string {
  const { origin, method, path, headers } = request;
  const heads = HEADS_OF.get(headers) ?? [];
  for (const known of heads)
    if (known.path === path && known.origin === origin && known.method === method) return known.text;
  const text = inOnePiece(writeHead(request));
  if (heads.length === 0) HEADS_OF.set(headers, heads);
  else if (heads.length === HEADS_MAX) heads.shift();
  heads.push({ origin, method, path, text });
  return text;
}

function writeHead({ origin, method = 'POST', path, headers }: OutgoingRequest): string {
  const host = origin.slice(origin.indexOf('//') + 2);
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${headerLines(headers)}`;
}
