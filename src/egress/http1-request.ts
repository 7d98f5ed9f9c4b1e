import type { OutgoingRequest } from './egress.ts';

/** What would end a line of the head, or is no header at all. */
const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/** Head and body in one piece, so that they leave in one write. */
export function requestBytes({ origin, method = 'POST', path, headers, body }: OutgoingRequest): Buffer {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${origin.slice(origin.indexOf('//') + 2)}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (UNSAFE.test(value)) throw new Error(`The header ${name} cannot be sent to a host.`);
    head += `${name}: ${value}\r\n`;
  }
  head += body === null ? '\r\n' : `content-length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + (body?.length ?? 0));
  bytes.write(head, 'latin1');
  body?.copy(bytes, head.length);
  return bytes;
}
