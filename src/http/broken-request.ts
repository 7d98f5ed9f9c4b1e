import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { errorHeaders } from '../gateway/refuse.ts';

/**
 * Bytes that never became a request: they are told so in the common envelope and shown the door. A connection that has
 * carried an answer may be in the middle of another one, so it is only closed.
 */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (socket.writable && socket.bytesWritten === 0 && error.code !== 'ECONNRESET') socket.write(answerTo(error.code));
  socket.destroySoon();
}

function answerTo(code: string | undefined): string {
  const error = errorOf(code);
  const body = JSON.stringify(errorEnvelope(error));
  const headers = { ...errorHeaders(error), connection: 'close', 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}

function errorOf(code: string | undefined): GatewayError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('request_head_too_large', {
        message: 'The headers are too long. Send fewer or shorter.',
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('request_timeout', { message: 'The request took too long to arrive.' });
    default:
      return new GatewayError('bad_request', { message: 'This is no HTTP request that can be read.' });
  }
}
