import { readSync } from 'node:fs';
import type { Socket } from 'node:net';

const ONE_BYTE = Buffer.allocUnsafeSlow(1);

/**
 * True if the kernel holds bytes or the end of this connection that Node has not read yet. It reads one byte from the
 * file descriptor, because Node has no call for this. That byte is lost, so the caller must drop the connection. On
 * Windows there is no descriptor, and the result is always false.
 */
export function hasUnreadInput(socket: Socket): boolean {
  const fd = descriptorOf(socket);
  if (fd < 0) return false;
  const { stackTraceLimit } = Error;
  // If nothing waits, the read throws EAGAIN. Making a stack trace would be half of the cost.
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
