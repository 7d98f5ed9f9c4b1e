import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

/** Stands between the gateway and another server, and can stop passing bytes, in both directions, without losing any. */
export class StallingProxy {
  readonly #target: NetConnectOpts;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStalled = false;

  private constructor(target: NetConnectOpts) {
    this.#target = target;
    this.#server = createServer({ pauseOnConnect: true }, (client) => this.#accept(client));
  }

  /** On a free port, or at the path of a unix socket. */
  static async open(target: NetConnectOpts, path?: string): Promise<StallingProxy> {
    const proxy = new StallingProxy(target);
    if (path === undefined) proxy.#server.listen(0, '127.0.0.1');
    else proxy.#server.listen(path);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections are accepted, and get no answer. */
  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Everything that waited goes on. */
  pass(): void {
    this.#isStalled = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Ends every connection; bytes that waited are lost. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #accept(client: Socket): void {
    const server = connect(this.#target).pause();
    const end = (): void => {
      for (const socket of [client, server]) {
        this.#sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from
        .on('data', (bytes) => to.write(bytes))
        .on('error', end)
        .on('close', end);
      if (this.#isStalled) from.pause();
      else from.resume();
    }
  }
}
