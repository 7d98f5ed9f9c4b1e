import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../limits.ts';

/** The connection will not be used again, by the client's wish or by ours. */
export function isLastAnswer(response: ServerResponse): boolean {
  return !response.shouldKeepAlive || response.getHeader('connection') === 'close';
}

/**
 * Ends a response whose head is written, on a connection that ends with it. To close while the client still sends would
 * throw away what it has not read yet, this answer too: so what still comes is read and forgotten first, up to a limit.
 */
export function endLastAnswer(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LIMITS.forgottenBodyBytesMax) response.end();
  });
  for (const end of ['end', 'close', 'error']) request.on(end, () => response.end());
  request.resume();
}
