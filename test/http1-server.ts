import { connect, type Socket } from 'node:net';
import { GatewayError } from '../src/canonical/errors.ts';
import { answerBroken } from '../src/http/broken-request.ts';
import { readRequestBody } from '../src/http/request-body.ts';
import { ConnectionLimit } from '../src/http1/connection-limit.ts';
import { NodeHttpServer } from '../src/http1/node-http.ts';
import { Listener } from '../src/http1/server/listener.ts';
import type { Answer, ClientTimeouts, CreateHttpServer, HttpServer, OutboundResponse } from '../src/http1/server.ts';
import { nextTurn, until } from './until.ts';

/** Both implementations of `src/http1/server.ts` on real sockets. */

export const SERVERS: readonly (readonly [string, CreateHttpServer])[] = [
  ['own', (terms) => new Listener(terms)],
  ['node', (terms) => new NodeHttpServer(terms)],
];
export const LONG_TIMEOUTS: ClientTimeouts = { requestHeadMs: 60_000, requestMs: 60_000, stallMs: 60_000 };

/** Answers with the method, the target and the body, one line each. */
export const echo: Answer = (request, response) => {
  const terms = {
    bytesMax: 10_000,
    sendContinue: () => response.sendContinue(),
    hasRoom: () => true,
    takeRoom: () => true,
  };
  readRequestBody(request, terms, (body) => {
    const text = body instanceof GatewayError ? body.kind : body.toString('latin1');
    answerWhole(response, [request.method, request.url, text].join('\n'));
  });
};

export function answerWhole(response: OutboundResponse, body: string): void {
  response.head(200, '', Buffer.byteLength(body));
  response.end(body);
}

const open: { server: HttpServer; sockets: Socket[] }[] = [];

/** To be called after each test. */
export async function closeServers(): Promise<void> {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    const closed = server.close();
    server.cutAll();
    await closed;
    await until(() => server.connections === 0, 'every connection is gone');
  }
}

export interface Served {
  readonly server: HttpServer;
  dial(): Socket;
  /** Sends the pieces, each in a turn of its own, and resolves with all that came back. */
  say(pieces: readonly (Buffer | string)[]): Promise<string>;
}

export async function serve(
  create: CreateHttpServer,
  answer: Answer = echo,
  timeouts: ClientTimeouts = LONG_TIMEOUTS,
  connections: ConnectionLimit = new ConnectionLimit(1_000),
): Promise<Served> {
  const server = create({ timeouts, connections, answer, answerBroken });
  const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
  const sockets: Socket[] = [];
  open.push({ server, sockets });
  const dial = (): Socket => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    socket.on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const say = async (pieces: readonly (Buffer | string)[]): Promise<string> => {
    const socket = dial();
    const text = textOf(socket);
    for (const piece of pieces) {
      if (!socket.destroyed) await new Promise<void>((sent) => socket.write(piece, 'latin1', () => sent()));
      // Without it the server would read several pieces at once: the callback comes before it has looked at its socket.
      await nextTurn();
    }
    return text;
  };
  return { server, dial, say };
}

/** All that arrives until the connection closes. */
export function textOf(socket: Socket): Promise<string> {
  const read: Buffer[] = [];
  socket.on('data', (bytes) => read.push(bytes));
  // Not `once`, which rejects if a server that has refused the first bytes resets the connection under the next ones.
  return new Promise((resolve) => socket.on('close', () => resolve(Buffer.concat(read).toString('latin1'))));
}

export const HEAD = 'HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
export const GET = 'GET /x HTTP/1.1\r\nhost: x\r\n\r\n';
export const LAST = 'GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
