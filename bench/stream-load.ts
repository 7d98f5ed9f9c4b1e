import { connect } from 'node:net';
import { announce } from './child.ts';

/** Streams that are opened one after another and all run at the same time. */
export interface StreamLoad {
  readonly port: number;
  readonly body: string;
  readonly keys: readonly string[];
  readonly streams: number;
  /** Of each stream. */
  readonly events: number;
  /** The time over which the streams are started. */
  readonly openingMs: number;
}

export interface StreamLoadResult {
  readonly finished: number;
  readonly firstFailure: string | null;
  readonly events: number;
  /** From the host's write to this process's read. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const MARK = '@'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);
const LAST_EVENT = '[DONE]';
const END = '0\r\n\r\n';
/** All sockets read into the same memory, because memory for every read would cost this process more than reading. */
const READ_BYTES = Buffer.alloc(64 * 1024);

function run(load: StreamLoad): Promise<StreamLoadResult> {
  const delays = new Delays(load.streams * load.events);
  let [finished, closed] = [0, 0];
  let firstFailure: string | null = null;
  return new Promise((resolve) => {
    const ended = (failure: string | null): void => {
      if (failure === null) finished += 1;
      else firstFailure ??= `A stream ended with: ${failure}`;
      if (++closed === load.streams) resolve({ finished, firstFailure, ...delays.quantiles() });
    };
    for (let at = 0; at < load.streams; at++)
      setTimeout(() => openStream(load, at, delays, ended), (at * load.openingMs) / load.streams);
  });
}

class Delays {
  /** Of full length from the start: growing would stop this process for milliseconds. */
  readonly #ms: Float64Array;
  #count = 0;

  constructor(events: number) {
    this.#ms = new Float64Array(events);
  }

  /** Returns how many events the bytes have. An event is small and written at once, so a machine's own network never cuts it in two. */
  read(bytes: Buffer): number {
    const nowMicros = Number(process.hrtime.bigint() / 1000n);
    const before = this.#count;
    for (let at = bytes.indexOf(MARK); at !== -1; at = bytes.indexOf(MARK, at)) {
      let sentMicros = 0;
      for (at += 1; at < bytes.length && bytes[at] !== MARK; at++) sentMicros = sentMicros * 10 + bytes[at]! - ZERO;
      this.#ms[this.#count++] = (nowMicros - sentMicros) / 1000;
      at += 1;
    }
    return this.#count - before;
  }

  quantiles() {
    const sorted = this.#ms.subarray(0, this.#count).toSorted();
    const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
    return { events: this.#count, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}

/** `ended` gets what a stream that is not whole ended with. */
function openStream(
  { port, body, keys }: StreamLoad,
  at: number,
  delays: Delays,
  ended: (failure: string | null) => void,
): void {
  let [hasLastEvent, isWhole] = [false, false];
  let otherText = '';
  const read = (size: number): boolean => {
    const bytes = READ_BYTES.subarray(0, size);
    if (delays.read(bytes) === 0) otherText = bytes.toString('latin1');
    hasLastEvent ||= bytes.includes(LAST_EVENT);
    isWhole = hasLastEvent && bytes.toString('latin1', Math.max(0, size - END.length)) === END;
    if (isWhole) socket.destroy();
    return true;
  };
  const onread = { buffer: READ_BYTES, callback: read };
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
  socket.on('connect', () => socket.write(requestText(port, body, keys[at % keys.length]!)));
  socket.on('error', (error) => {
    otherText = error.message;
  });
  socket.on('close', () => ended(isWhole ? null : otherText));
}

function requestText(port: number, body: string, key: string): string {
  const length = Buffer.byteLength(body);
  const head = `host: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nauthorization: Bearer ${key}`;
  return `POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`;
}

process.on('message', (load: StreamLoad) => {
  void run(load).then((result) => process.send!(result));
});
announce({});
