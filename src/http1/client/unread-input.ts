import { readSync } from 'node:fs';
import type { Socket } from 'node:net';

const ONE_BYTE = Buffer.allocUnsafeSlow(1);

/**
 * True if the kernel holds bytes of this socket, or its end, that the event loop has not delivered yet. The byte it finds
 * is lost, so the connection must be dropped then. Node has no call for this, so it reads from the descriptor; where there
 * is none, as on Windows, the answer is no.
 */
export function hasUnreadInput(socket: Socket): boolean {
  const fd = descriptorOf(socket);
  if (fd < 0) return false;
  const { stackTraceLimit } = Error;
  // "Nothing there" is thrown as an error, and its stack is half of the cost.
  Error.stackTraceLimit = 0;
  try {
    readSync(fd, ONE_BYTE, 0, 1, null);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function descriptorOf(socket: Socket): number {
  return (socket as Socket & { readonly _handle?: { readonly fd?: number } | null })._handle?.fd ?? -1;
}
