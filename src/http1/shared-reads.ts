import type { OnReadOpts } from 'node:net';
import { LIMITS } from '../limits.ts';

/** All sockets read into this one: what came is copied out before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(LIMITS.socketReadBytes);

/** For a socket's `onread`. Without it Node makes a buffer for every read, as large as a read may be. */
export function sharedReads(onRead: (bytes: Buffer) => void): OnReadOpts {
  return {
    buffer: READ_BUFFER,
    callback: (length) => {
      onRead(copyOfRead(length));
      return true;
    },
  };
}

/** What a read brought, in a buffer of its own size. */
function copyOfRead(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  READ_BUFFER.copy(bytes, 0, 0, length);
  return bytes;
}
