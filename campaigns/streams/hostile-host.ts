import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What a host does next with its connection. */
export type Step =
  | { readonly kind: 'write'; readonly bytes: Buffer }
  /** Yields to the event loop, so that the next bytes arrive in a read of their own. */
  | { readonly kind: 'turn' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' }
  /** Stops sending and keeps the connection open. */
  | { readonly kind: 'hang' };

export type Script = readonly Step[];

/** Where the number of a case is in a prompt. */
export const caseMark = (number: number): string => `case-${number}-`;
const CASE = /case-(\d+)-/;

/** Most bytes kept of a request that has not ended. */
const REQUEST_BYTES_MAX = 256 * 1024;

/** A host that is a plain socket: it answers each request with the bytes of its case. */
export class HostileHost {
  readonly #server: Server;
  readonly #scripts = new Map<number, Script>();
  readonly #sockets = new Set<Socket>();
  /** Called when a host has stopped sending for good. */
  onHang: (number: number) => void = () => {};

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<HostileHost> {
    const host = new HostileHost();
    host.#server.listen(0, '127.0.0.1');
    await once(host.#server, 'listening');
    return host;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  script(number: number, script: Script): void {
    this.#scripts.set(number, script);
  }

  forget(number: number): void {
    this.#scripts.delete(number);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    let request = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      request = Buffer.concat([request, chunk]);
      if (request.length > REQUEST_BYTES_MAX) socket.destroy();
      const end = requestEnd(request);
      if (end === null) return;
      const number = Number(CASE.exec(request.toString('latin1', 0, end))?.[1]);
      request = request.subarray(end);
      this.#play(socket, number).catch(() => socket.destroy());
    });
  }

  async #play(socket: Socket, number: number): Promise<void> {
    for (const step of this.#scripts.get(number) ?? []) {
      if (socket.destroyed) return;
      switch (step.kind) {
        case 'write':
          if (!socket.write(step.bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
          break;
        case 'turn':
          await new Promise((resolve) => setImmediate(resolve));
          break;
        case 'close':
          socket.end();
          return;
        case 'reset':
          socket.resetAndDestroy();
          return;
        case 'hang':
          this.onHang(number);
          return;
      }
    }
  }
}

/** Where a request with a body of known length ends; null until it is complete. */
function requestEnd(bytes: Buffer): number | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const length = Number(/content-length: (\d+)/i.exec(bytes.toString('latin1', 0, headEnd))?.[1] ?? 0);
  const end = headEnd + 4 + length;
  return bytes.length >= end ? end : null;
}
