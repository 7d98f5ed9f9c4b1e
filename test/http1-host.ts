import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ResponseReceiver } from '../src/http1/client.ts';

export const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
export const LAST_CHUNK = '0\r\n\r\n';
export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

export const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Records the calls to a receiver, in order; `onData` may act as a relay would. */
export class Notes implements ResponseReceiver {
  readonly seen: string[] = [];
  readonly over = Promise.withResolvers<void>();
  onData: () => void = () => {};

  head(status: number): void {
    this.seen.push(`head ${status}`);
  }

  data(chunks: readonly Buffer[]): void {
    this.seen.push(chunks.join('|'));
    this.onData();
  }

  end(): void {
    this.seen.push('end');
    this.over.resolve();
  }

  failed(error: Error): void {
    this.seen.push(`failed: ${error.message}`);
    this.over.resolve();
  }
}

/** A host that answers each request as the test says. */
export class Host {
  readonly sockets: Socket[] = [];
  readonly requests: string[] = [];
  answer: (socket: Socket) => void = (socket) => socket.write(OK);
  origin = '';
  server: Server = createServer((socket) => this.take(socket));

  async listen(scheme = 'http', name = '127.0.0.1'): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.origin = `${scheme}://${name}:${(this.server.address() as AddressInfo).port}`;
  }

  take(socket: Socket): void {
    this.sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      this.requests.push(bytes.toString('latin1'));
      this.answer(socket);
    });
  }

  /** Resolves once every connection it was given has closed. */
  async deserted(): Promise<void> {
    await Promise.all(this.sockets.map((socket) => socket.destroyed || once(socket, 'close')));
  }
}
