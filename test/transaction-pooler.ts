import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What a pooler in transaction mode does to its clients: every transaction runs on whichever server connection is free,
 * so that nothing survives in a session, and two transactions of one client may see two of them.
 */
interface TransactionPooler {
  readonly url: string;
  close(): void;
}

const SOCKET = '.s.PGSQL.5432';
const SSL_REQUEST = 80_877_103;
const GREETING = Buffer.concat([
  message('R', int32(0)),
  message('K', Buffer.concat([int32(1), int32(1)])),
  message('Z', Buffer.from('I')),
]);

export async function startPooler(url: string, servers = 3): Promise<TransactionPooler> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pooler-'));
  const pool = new ServerPool(url, servers);
  const clients = new Set<Socket>();
  const listener = createServer((socket) => {
    clients.add(socket.on('close', () => clients.delete(socket)));
    new PooledClient(socket, pool);
  });
  await new Promise<void>((resolve) => listener.listen(join(folder, SOCKET), resolve));
  const pooled = new URL(url);
  pooled.searchParams.set('host', folder);
  pooled.searchParams.delete('options');
  return {
    url: pooled.href,
    close: () => {
      listener.close();
      for (const socket of clients) socket.destroy();
      pool.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Hands each message over whole: its type and its bytes. */
class Framer {
  #rest = Buffer.alloc(0);
  /** The first message of a client has no type. */
  #untyped: boolean;

  constructor(untyped: boolean) {
    this.#untyped = untyped;
  }

  push(bytes: Buffer, take: (type: string, message: Buffer) => void): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#untyped ? 0 : 1;
      if (this.#rest.length < head + 4) return;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return;
      const whole = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      const isRequest = this.#untyped && whole.readInt32BE(4) === SSL_REQUEST;
      const type = this.#untyped ? (isRequest ? 'ssl' : 'startup') : String.fromCharCode(whole[0]!);
      if (!isRequest) this.#untyped = false;
      take(type, whole);
    }
  }
}

class ServerConnection {
  readonly socket: Socket;
  onMessage: (type: string, message: Buffer) => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    const framer = new Framer(false);
    socket.on('data', (bytes) => framer.push(bytes as Buffer, (type, whole) => this.onMessage(type, whole)));
  }
}

class ServerPool {
  readonly #url: URL;
  readonly #idle: ServerConnection[] = [];
  readonly #waiting: ((server: ServerConnection) => void)[] = [];
  readonly #all = new Set<Socket>();
  #room: number;

  constructor(url: string, size: number) {
    this.#url = new URL(url);
    this.#room = size;
  }

  async take(): Promise<ServerConnection> {
    // Any of them, so that nobody comes to rely on one.
    if (this.#idle.length > 0) return this.#idle.splice(Math.floor(Math.random() * this.#idle.length), 1)[0]!;
    if (this.#room > 0) {
      this.#room--;
      return this.#open();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  giveBack(server: ServerConnection): void {
    server.onMessage = () => undefined;
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(server);
    else next(server);
  }

  /** Its transaction was left open: PostgreSQL rolls it back. */
  drop(server: ServerConnection): void {
    server.socket.destroy();
    this.#room++;
    const next = this.#waiting.shift();
    if (next !== undefined) void this.take().then(next);
  }

  close(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #open(): Promise<ServerConnection> {
    const { username, pathname, searchParams } = this.#url;
    const socket = connect(join(searchParams.get('host')!, SOCKET));
    this.#all.add(socket.on('error', () => undefined).on('close', () => this.#all.delete(socket)));
    const server = new ServerConnection(socket);
    const fields = ['user', username, 'database', pathname.slice(1), 'options', searchParams.get('options') ?? ''];
    const body = Buffer.from(`${fields.map((field) => `${field}\0`).join('')}\0`);
    socket.write(Buffer.concat([int32(body.length + 8), int32(196_608), body]));
    return new Promise((resolve, reject) => {
      server.onMessage = (type, whole) => {
        if (type === 'E') reject(new Error(whole.toString()));
        if (type === 'Z') resolve(server);
      };
    });
  }
}

class PooledClient {
  readonly #socket: Socket;
  readonly #pool: ServerPool;
  #server: ServerConnection | null = null;
  #taking = false;
  #unsent: Buffer[] = [];
  /** Answers that end with "ready" and have not come yet. */
  #awaited = 0;

  constructor(socket: Socket, pool: ServerPool) {
    this.#socket = socket;
    this.#pool = pool;
    const framer = new Framer(true);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => framer.push(bytes as Buffer, (type, whole) => this.#hear(type, whole)));
    socket.on('close', () => this.#leave());
  }

  #hear(type: string, whole: Buffer): void {
    if (type === 'ssl') this.#socket.write('N');
    else if (type === 'startup') this.#socket.write(GREETING);
    else if (type === 'X') this.#socket.end();
    else this.#send(type, whole);
  }

  #send(type: string, whole: Buffer): void {
    if (type === 'S' || type === 'Q') this.#awaited++;
    if (this.#server !== null) {
      this.#server.socket.write(whole);
      return;
    }
    this.#unsent.push(whole);
    if (this.#taking) return;
    this.#taking = true;
    void this.#pool.take().then((server) => this.#attach(server));
  }

  #attach(server: ServerConnection): void {
    this.#taking = false;
    this.#server = server;
    server.onMessage = (type, whole) => this.#answer(type, whole);
    for (const whole of this.#unsent.splice(0)) server.socket.write(whole);
    if (this.#socket.destroyed) this.#leave();
  }

  #answer(type: string, whole: Buffer): void {
    this.#socket.write(whole);
    if (type !== 'Z') return;
    this.#awaited--;
    const isIdle = whole[5] === 'I'.charCodeAt(0);
    if (this.#awaited > 0 || !isIdle || this.#server === null) return;
    this.#pool.giveBack(this.#server);
    this.#server = null;
  }

  #leave(): void {
    if (this.#server === null) return;
    this.#pool.drop(this.#server);
    this.#server = null;
  }
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
