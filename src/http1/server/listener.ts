import { type AddressInfo, createServer, type Server } from 'node:net';
import { type Clock, systemClock, type Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import {
  type Answer,
  type Breakage,
  ClientConnection,
  type ConnectionTerms,
  type Patience,
} from './client-connection.ts';

/** What a port does with what it reads. */
export interface ListenerTerms {
  readonly patience: Patience;
  readonly answer: Answer;
  /** The whole response to bytes that never became a request. */
  answerBroken(why: Breakage): string;
}

/** A port that speaks HTTP/1.1, with every limit set. */
export class Listener {
  readonly #server: Server;
  readonly #connections = new Set<ClientConnection>();
  readonly #checkMs: number;
  /** Sockets live by the machine's own time, whatever time calls are told. */
  readonly #clock: Clock = systemClock;
  #check: Timer | null = null;

  constructor({ patience, answer, answerBroken }: ListenerTerms) {
    const gone = (connection: ClientConnection): void => void this.#connections.delete(connection);
    this.#checkMs = Math.min(LIMITS.connectionsCheckMs, patience.requestHeadMs, patience.requestMs);
    const terms: ConnectionTerms = { patience, checkMs: this.#checkMs, clock: this.#clock, answer, answerBroken, gone };
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (accepted) => {
      this.#connections.add(new ClientConnection(accepted, terms));
    });
  }

  /** Connections that are open, for tests that look for leaks. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Gives the address by which the port can be called from this machine. */
  listen({ host, port }: { host: string; port: number }): Promise<string> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        this.#checkLater();
        resolve(urlOf(server.address() as AddressInfo));
      });
    });
  }

  /** Takes no new connection; resolves when those that are open have ended. Those on which nothing is asked end now. */
  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.endIfIdle();
    return closed.finally(() => this.#check?.cancel());
  }

  /** Ends every connection, whatever is said on it. */
  cutAll(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  #checkLater(): void {
    this.#check = this.#clock.after(this.#checkMs, () => this.#checkPatience(), { unref: true });
  }

  #checkPatience(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const connection of this.#connections) connection.checkPatience(nowMs);
    this.#checkLater();
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}
