import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../limits.ts';

/**
 * Whether the client still sends what nobody will read, on a connection that ends with this answer. To close it at once
 * would throw away whatever the client has not read yet, this answer too.
 */
export function isStillSent({ complete, headers }: IncomingMessage, response: ServerResponse): boolean {
  const isLast = !response.shouldKeepAlive || response.getHeader('connection') === 'close';
  return isLast && !complete && headers.expect === undefined;
}

/** Reads and forgets the rest of a body, up to a limit. */
export function forgetRest(request: IncomingMessage, done: () => void): void {
  let bytes = 0;
  let isDone = false;
  const finish = (): void => {
    if (!isDone) done();
    isDone = true;
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LIMITS.forgottenBodyBytesMax) finish();
  });
  for (const end of ['end', 'close', 'error']) request.on(end, finish);
  request.resume();
}
