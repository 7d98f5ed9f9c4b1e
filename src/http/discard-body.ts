import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { LIMITS } from '../limits.ts';

/**
 * Whether the client still sends what nobody will read, on a connection that ends with this answer. To close it at once
 * would throw away whatever the client has not read yet, this answer too.
 */
export function isStillSent({ complete, headers }: InboundRequest, { closes }: OutboundResponse): boolean {
  return closes && !complete && headers.expect === undefined;
}

/** Reads and forgets the rest of a body, up to a limit. */
export function forgetRest(request: InboundRequest, done: () => void): void {
  let bytes = 0;
  let isDone = false;
  const finish = (): void => {
    if (!isDone) done();
    isDone = true;
  };
  const data = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > LIMITS.forgottenBodyBytesMax) finish();
  };
  request.read({ data, end: finish, failed: finish });
}
