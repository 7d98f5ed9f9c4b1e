import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A replica's connection to the host, which can be watched and held back. */
export interface HostGate {
  readonly url: string;
  /** Holds back everything from the replica's first byte on, and reports it. */
  shutBeforeCall(then: () => void): void;
  /** Reports when the host has sent this; it still goes to the replica. */
  whenHostSays(text: string, then: () => void): void;
  /** Everything passes again. */
  pass(): void;
  close(): Promise<void>;
}

export async function openHostGate(hostUrl: string): Promise<HostGate> {
  const port = Number(new URL(hostUrl).port);
  const sockets = new Set<Socket>();
  let shut: (() => void) | null = null;
  let overheard: { readonly text: string; readonly then: () => void } | null = null;
  const server = createServer((replica) => {
    const host = connect(port, '127.0.0.1');
    const end = (): void => {
      for (const socket of [replica, host]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [replica, host]) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', end).on('close', end);
    }
    replica.on('data', (bytes) => {
      if (shut === null) host.write(bytes);
      else shut();
    });
    host.on('data', (bytes) => {
      replica.write(bytes);
      if (overheard === null || !bytes.includes(overheard.text)) return;
      const { then } = overheard;
      overheard = null;
      then();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shutBeforeCall: (then) => {
      shut = then;
    },
    whenHostSays: (text, then) => {
      overheard = { text, then };
    },
    pass: () => {
      shut = null;
      overheard = null;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
