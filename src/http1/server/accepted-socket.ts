import { Socket, type SocketConstructorOpts } from 'node:net';
import { sharedReads } from '../shared-reads.ts';

/** What Node keeps of a connection and does not describe: the system's side of it. */
interface WithHandle {
  _handle?: object | null;
}

/**
 * Reads from a connection that was accepted and is paused, into the buffer that all share: Node lets only sockets do so
 * that are made for it, so one is made on the same handle. Where a Node has no handle to give, it reads in its own way.
 */
export function readAccepted(accepted: Socket, onRead: (bytes: Buffer) => void): Socket {
  const handle = (accepted as WithHandle)._handle;
  if (handle === undefined || handle === null) {
    accepted.on('data', onRead).resume();
    return accepted;
  }
  (accepted as WithHandle)._handle = null;
  const socket = new Socket({ handle, onread: sharedReads(onRead) } as SocketConstructorOpts);
  // The server counts the one that it made.
  socket.once('close', () => accepted.destroy());
  return socket;
}
