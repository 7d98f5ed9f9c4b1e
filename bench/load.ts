import { connect, type Socket } from 'node:net';
import { announce } from './child.ts';

/** One slice of load: this many connections, each sending its next request when the last is answered. */
export interface Slice {
  readonly port: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Requests go round these, so that many accounts pay. */
  readonly keys: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

export interface SliceResult {
  readonly answered: number;
  readonly failed: number;
  readonly firstFailure: string | null;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A slice that has not ended this long after its time never will. */
const GRACE_MS = 20_000;
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = '0\r\n\r\n';

/** Written on bare sockets, because a general client would be the bottleneck of what it measures. */
class Generator {
  readonly #requests: readonly Buffer[];
  readonly #resolve: (result: SliceResult) => void;
  readonly #latencies: number[] = [];
  readonly #startMs = performance.now();
  readonly #endMs: number;
  readonly #overdue: NodeJS.Timeout;
  #next = 0;
  #open: number;
  #failed = 0;
  #firstFailure: string | null = null;

  constructor(slice: Slice, resolve: (result: SliceResult) => void) {
    this.#resolve = resolve;
    this.#requests = slice.keys.map((key) => requestBytes(slice, key));
    this.#endMs = this.#startMs + slice.seconds * 1000;
    this.#open = slice.connections;
    this.#overdue = setTimeout(() => this.#finish('The slice did not end.'), slice.seconds * 1000 + GRACE_MS);
    for (let at = 0; at < slice.connections; at++) new Connection(slice.port, this);
  }

  /** The next request; null when the time is over. */
  next(): Buffer | null {
    if (performance.now() >= this.#endMs) return null;
    return this.#requests[this.#next++ % this.#requests.length]!;
  }

  answered(latencyMs: number): void {
    this.#latencies.push(latencyMs);
  }

  failed(why: string): void {
    this.#failed++;
    this.#firstFailure ??= why;
  }

  closed(): void {
    if (--this.#open === 0) this.#finish(this.#firstFailure);
  }

  #finish(firstFailure: string | null): void {
    clearTimeout(this.#overdue);
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
    this.#resolve({
      answered: sorted.length,
      failed: this.#failed,
      firstFailure,
      seconds: (performance.now() - this.#startMs) / 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    });
  }
}

class Connection {
  readonly #generator: Generator;
  readonly #socket: Socket;
  #sentMs = 0;
  /** Begun but unfinished head of an answer. */
  #head: Buffer | null = null;
  /** Bytes of the body still to come; -1 while an answer is chunked. */
  #missing = 0;
  #tail = '';
  #isHead = true;

  constructor(port: number, generator: Generator) {
    this.#generator = generator;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('connect', () => this.#send());
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('error', (error) => generator.failed(error.message));
    this.#socket.on('close', () => generator.closed());
  }

  #send(): void {
    const request = this.#generator.next();
    if (request === null) {
      this.#socket.destroy();
      return;
    }
    this.#isHead = true;
    this.#sentMs = performance.now();
    this.#socket.write(request);
  }

  #read(chunk: Buffer): void {
    if (this.#isHead) this.#readHead(this.#head === null ? chunk : Buffer.concat([this.#head, chunk]));
    else this.#readBody(chunk);
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    if (end === -1) {
      this.#head = bytes;
      return;
    }
    this.#head = null;
    this.#isHead = false;
    const head = bytes.toString('latin1', 0, end);
    if (!head.startsWith('HTTP/1.1 200')) {
      this.#generator.failed(bytes.toString());
      this.#socket.destroy();
      return;
    }
    const length = /content-length: ?(\d+)/i.exec(head);
    this.#missing = length === null ? -1 : Number(length[1]);
    this.#tail = '';
    this.#readBody(bytes.subarray(end + HEAD_END.length));
  }

  #readBody(bytes: Buffer): void {
    if (this.#missing === -1) {
      const { length } = bytes;
      const end = bytes.toString('latin1', Math.max(0, length - LAST_CHUNK.length));
      this.#tail = length >= LAST_CHUNK.length ? end : (this.#tail + end).slice(-LAST_CHUNK.length);
      if (this.#tail !== LAST_CHUNK) return;
    } else {
      this.#missing -= bytes.length;
      if (this.#missing > 0) return;
    }
    this.#generator.answered(performance.now() - this.#sentMs);
    this.#send();
  }
}

function requestBytes({ port, path, headers, body }: Slice, key: string): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `authorization: Bearer ${key}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

process.on('message', (slice: Slice) => {
  new Generator(slice, (result) => process.send!(result));
});
announce({});
