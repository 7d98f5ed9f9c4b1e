import { createServer, type Server } from 'node:net';
import { ConnectionCheck } from '../connection-check.ts';
import { type ListenAddress, listenOn } from '../listen.ts';
import type { HttpServer, HttpServerTerms } from '../server.ts';
import { ClientConnection, type ConnectionTerms } from './client-connection.ts';

/** Our own HTTP/1.1 server, over plain sockets. */
export class Listener implements HttpServer {
  readonly #server: Server;
  readonly #connections = new Set<ClientConnection>();
  readonly #check: ConnectionCheck;

  constructor({ timeouts, connections, answer, answerBroken }: HttpServerTerms) {
    this.#check = new ConnectionCheck(timeouts, (nowMs) => {
      for (const connection of this.#connections) connection.checkPatience(nowMs);
    });
    const { clock, everyMs: checkMs } = this.#check;
    const gone = (connection: ClientConnection): void => void this.#connections.delete(connection);
    const terms: ConnectionTerms = { timeouts, connections, checkMs, clock, answer, answerBroken, gone };
    this.#server = createServer({ noDelay: true }, (socket) => {
      const slot = connections.take(() => socket.destroy());
      if (slot === null) socket.destroy();
      else this.#connections.add(new ClientConnection(socket, slot, terms));
    });
  }

  get connections(): number {
    return this.#connections.size;
  }

  async listen(address: ListenAddress): Promise<string> {
    const url = await listenOn(this.#server, address);
    this.#check.start();
    return url;
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.endIfIdle();
    return closed.finally(() => this.#check.stop());
  }

  cutAll(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}
