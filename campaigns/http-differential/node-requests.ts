import { createServer, type IncomingMessage, type Server } from 'node:http';
import { MemorySocket } from './memory-socket.ts';
import { type ConnectionReading, nextTurn, type Pieces, type ReadRequest } from './reading.ts';

/** Node's parser stops after a request with an Upgrade header, even where the server ignores the header. */
export const BEHIND_UPGRADE = 'reads nothing behind an offer to upgrade';

const READERS = new WeakMap<object, NodeConnection>();

/** Node's own server, which documents that any Duplex may be given to it as a connection. */
const SERVER: Server = makeServer();

export async function readNodeRequests(connections: readonly Pieces[]): Promise<ConnectionReading[]> {
  const readers = connections.map((pieces) => new NodeConnection(pieces));
  await nextTurn();
  for (const reader of readers) reader.feed();
  await nextTurn();
  const readings = readers.map((reader) => reader.finish());
  await nextTurn();
  return readings;
}

function makeServer(): Server {
  const options = { requireHostHeader: false, insecureHTTPParser: false, connectionsCheckingInterval: 2 ** 30 };
  const server = createServer(options);
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  const take = (request: IncomingMessage): void => readerOf(request.socket).take(request);
  server.on('request', take);
  server.on('checkContinue', take);
  server.on('checkExpectation', (request) => readerOf(request.socket).refuse('unknown expectation'));
  server.on('connect', (request) => readerOf(request.socket).refuse('CONNECT'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => readerOf(socket).refuse(error.code ?? 'error'));
  return server;
}

function readerOf(socket: object): NodeConnection {
  return READERS.get(socket)!;
}

class NodeConnection {
  readonly #socket = new MemorySocket();
  readonly #pieces: Pieces;
  readonly #requests: { request: IncomingMessage; body: Buffer[]; wholeAt: number | null }[] = [];
  #refusal: string | null = null;
  #offersUpgrade = false;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
    READERS.set(this.#socket, this);
    SERVER.emit('connection', this.#socket);
  }

  feed(): void {
    for (const [at, piece] of this.#pieces.entries()) {
      if (this.#refusal !== null || this.#socket.destroyed) return;
      this.#socket.push(Buffer.from(piece));
      for (const read of this.#requests) if (read.request.complete) read.wholeAt ??= at;
    }
  }

  take(request: IncomingMessage): void {
    if (this.#refusal !== null) return;
    // Node's own rule, applied here so that it stops the reading: the server would answer 400 and read on.
    if (request.httpVersion === '1.1' && request.headers.host === undefined) {
      this.refuse('no Host');
      return;
    }
    const { upgrade, connection = '' } = request.headers;
    this.#offersUpgrade ||= upgrade !== undefined && /upgrade/i.test(connection);
    const read = { request, body: [] as Buffer[], wholeAt: null };
    this.#requests.push(read);
    request.on('data', (piece: Buffer) => read.body.push(piece));
    request.on('error', () => {});
  }

  refuse(reason: string): void {
    this.#refusal ??= reason;
  }

  finish(): ConnectionReading {
    if (this.#socket.destroyed) this.refuse('closed');
    if (this.#offersUpgrade) this.refuse(BEHIND_UPGRADE);
    this.#socket.destroy();
    const requests = this.#requests.map(
      ({ request, body, wholeAt }): ReadRequest => ({
        method: request.method ?? '',
        target: request.url ?? '',
        version: request.httpVersion,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(body),
        wholeAt,
      }),
    );
    return { requests, refusal: this.#refusal };
  }
}
