import type { Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher, Pool } from 'undici';
import { undici } from './load-undici.ts';

/** Counts connections as they open and close. */
interface ConnectionCount {
  opened(): void;
  closed(): void;
}

/** A request that wants to know its connection. */
interface ConnectionUser {
  takenBy?(connection: KeptConnection): void;
}

/** An attempt to connect that can be aborted. The connector still calls back, with an error. */
export interface Dialling {
  destroy(error: Error): void;
}

/** Undici's types do not say that its own connector returns the socket, and the one through a proxy a promise. */
export type Connector = (...terms: Parameters<buildConnector.connector>) => Dialling | Promise<void> | undefined;

/** The one connection of an undici `Client`, which opens a new one when the last has closed. */
export class KeptConnection {
  #socket: Socket | null = null;
  #opening: OpeningConnection | null = null;
  /** A request was answered on it, so the host may be closing it as idle. */
  hasAnswered = false;

  opening(attempt: OpeningConnection): void {
    this.#opening = attempt;
  }

  opened(socket: Socket): void {
    this.#opening = null;
    this.#socket = socket;
    this.hasAnswered = false;
  }

  /** Ends an attempt to connect for a request that was cancelled. False if there is none. */
  giveUp(error: Error, ended: () => void): boolean {
    const opening = this.#opening;
    this.#opening = null;
    return opening?.giveUp(error, ended) ?? false;
  }

  /** Only a success leaves the connection open: after an error the host may take leftover bytes for the next request. */
  answered(status: number): void {
    if (status >= 200 && status < 300) this.hasAnswered = true;
    else this.#socket?.destroy();
  }
}

/** One attempt to connect, for a request that may be cancelled meanwhile. */
class OpeningConnection {
  /** Null once undici has its answer. */
  #callback: buildConnector.Callback | null;
  #dialling: ReturnType<Connector>;
  #ended: () => void = () => {};

  constructor(callback: buildConnector.Callback) {
    this.#callback = callback;
  }

  start(connect: Connector, target: buildConnector.Options, opened: (socket: Socket) => void): void {
    this.#dialling = connect(target, (...[error, socket]) => {
      const callback = this.#callback;
      this.#callback = null;
      if (callback === null) {
        socket?.on('error', () => {}).destroy();
        this.#ended();
      } else if (error !== null) callback(error, null);
      else {
        opened(socket);
        callback(null, socket);
      }
    });
  }

  /** Undici forgets the request at once. Not every connector can be aborted: `ended` is called when the attempt is over. */
  giveUp(error: Error, ended: () => void): boolean {
    const callback = this.#callback;
    if (callback === null) return false;
    this.#callback = null;
    this.#ended = ended;
    callback(error, null);
    if (this.#dialling !== undefined && 'destroy' in this.#dialling) this.#dialling.destroy(error);
    return true;
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
    const { connect } = options as { readonly connect: Connector };
    const tracked: buildConnector.connector = (target, callback) => {
      const attempt = new OpeningConnection(callback);
      connection.opening(attempt);
      attempt.start(connect, target, (socket) => {
        count.opened();
        socket.once('close', () => count.closed());
        connection.opened(socket);
      });
    };
    return trackedClient(origin, { ...options, connect: tracked }, connection);
  };
}
