import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { FREE_LINES } from '../gateway/receipt-headers.ts';
import { errorLines, identityLines } from '../gateway/refuse.ts';
import type { RequestFault } from '../http1/server.ts';
import type { Log } from '../kit/log.ts';
import { STATUS_CODES } from '../kit/platform-http.ts';
import { logRequest } from './call-log.ts';

/** The complete response to bytes that did not become a request: the common error envelope, without a request id. */
export function answerBroken(why: RequestFault): string {
  return answerWith(errorOf(why), '');
}

/** The same for callers: every error of theirs has a request id, which the log has too, and says what it cost. */
export function answerBrokenCall(why: RequestFault, requestId: string, log: Log): string {
  const error = errorOf(why);
  const { status, code: errorCode } = error;
  logRequest(log, { requestId, method: null, route: null, keyId: null, status, errorCode, totalMs: 0 });
  return answerWith(error, identityLines(requestId, null, null) + FREE_LINES);
}

function answerWith(error: GatewayError, moreLines: string): string {
  const body = JSON.stringify(errorEnvelope(error));
  const lines = `${moreLines}${errorLines(error)}connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines}\r\n${body}`;
}

function errorOf(why: RequestFault): GatewayError {
  switch (why) {
    case 'unreadable':
      return new GatewayError('bad_request', { message: 'Malformed HTTP request.' });
    case 'head_too_long':
      return new GatewayError('request_head_too_large', {
        message: 'The headers are too long. Send fewer or shorter ones.',
      });
    case 'too_slow':
      return new GatewayError('request_timeout', { message: 'The request took too long to arrive.' });
    case 'tunnel':
      return new GatewayError('method_not_allowed', {
        message: 'CONNECT is not supported: this server is not a proxy.',
      });
  }
}
