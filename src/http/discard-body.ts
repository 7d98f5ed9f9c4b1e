import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { LIMITS } from '../limits.ts';

/**
 * True if the client is still sending a body on a connection that ends with this response. Closing at once would reset
 * the connection, and the client could lose the response.
 */
export function isStillSending({ complete, headers }: InboundRequest, { closes }: OutboundResponse): boolean {
  return closes && !complete && headers.expect === undefined;
}

/** Reads and drops the rest of a body, up to a limit. */
export function discardRest(request: InboundRequest, done: () => void): void {
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
