import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { errorHeaders } from '../gateway/refuse.ts';

/**
 * Bytes that never became a request: they are told so in the common envelope and shown the door. If they came behind a
 * request in good order, that one gets its own answer first, and theirs is the end: two answers could be confused.
 */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  const isReadable = error.code?.startsWith('HPE_') === true;
  const answer = answerUnderWay(socket);
  if (isReadable && answer?.req.complete) {
    answer.shouldKeepAlive = false;
    answer.once('close', () => socket.destroySoon());
    return;
  }
  const isUnanswered = answer === null || !answer.headersSent;
  if (socket.writable && isUnanswered && error.code !== 'ECONNRESET') socket.write(answerWith(errorOf(error.code)));
  socket.destroySoon();
}

/** The response whose turn it is on this connection; Node keeps it there, and nowhere else. */
function answerUnderWay(socket: Socket): ServerResponse | null {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** What Node would answer or cut by itself, in words that are not ours. */
export function answerOddRequests(server: Server): void {
  // The head is checked with every other: it says what may be expected, and leave to send a body is given when it is read.
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response));
  }
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => {});
    socket.end(
      answerWith(new GatewayError('method_not_allowed', { message: 'This is no proxy: CONNECT is not answered.' })),
    );
  });
}

function answerWith(error: GatewayError): string {
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
