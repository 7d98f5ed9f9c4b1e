import type { OnReadOpts } from 'node:net';
import { LIMITS } from '../limits.ts';

/** Shared by all sockets: each read is copied out before the next one begins. */
const READ_BUFFER = Buffer.allocUnsafeSlow(LIMITS.socketReadBytes);

/** The `onread` option of a socket. Without it Node allocates a buffer of the largest read size for every read. */
export function sharedReads(onRead: (bytes: Buffer) => void): OnReadOpts {
  return {
    buffer: READ_BUFFER,
    callback: (length) => {
      onRead(copyOfRead(length));
      return true;
    },
  };
}

/** The bytes of one read, in a buffer of their own size. */
function copyOfRead(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  READ_BUFFER.copy(bytes, 0, 0, length);
  return bytes;
}
