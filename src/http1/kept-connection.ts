import type { Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher, Pool } from 'undici';
import { undici } from './load-undici.ts';

/** Counts connections as they open and close. */
export interface ConnectionCount {
  opened(): void;
  closed(): void;
}

/** A request that wants to know its connection. */
interface ConnectionUser {
  takenBy?(connection: KeptConnection): void;
}

/** The one connection of an undici `Client`, which opens a new one when the last has closed. */
export class KeptConnection {
  #socket: Socket | null = null;
  /** A request was answered on it, so the host may be closing it as idle. */
  hasAnswered = false;

  opened(socket: Socket): void {
    this.#socket = socket;
    this.hasAnswered = false;
  }

  /** Only a success leaves the connection open: after an error the host may take leftover bytes for the next request. */
  answered(status: number): void {
    if (status >= 200 && status < 300) this.hasAnswered = true;
    else this.#socket?.destroy();
  }
}

/** A client that tells every request which connection it was given. */
function trackedClient(origin: string | URL, options: Client.Options, connection: KeptConnection): Client {
  const client = new (undici().Client)(origin, options);
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
    (handler as ConnectionUser).takenBy?.(connection);
    return dispatch(request, handler);
  };
  return client;
}

/** For the `factory` of a pool: clients that tell each request which connection it uses. */
export function trackConnections(count: ConnectionCount): NonNullable<Pool.Options['factory']> {
  return (origin, options) => {
    const connection = new KeptConnection();
    const { connect } = options as { readonly connect: buildConnector.connector };
    const tracked: buildConnector.connector = (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        count.opened();
        socket.once('close', () => count.closed());
        connection.opened(socket);
        callback(null, socket);
      });
    return trackedClient(origin, { ...options, connect: tracked }, connection);
  };
}
