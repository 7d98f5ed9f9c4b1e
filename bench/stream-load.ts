import { connect } from 'node:net';
import { announce } from './child.ts';

/** Streams that are opened one after another and all run at the same time. */
export interface StreamLoad {
  readonly port: number;
  readonly body: string;
  readonly keys: readonly string[];
  readonly streams: number;
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

const SENT_AT = /@(\d+)@/g;
const END = '0\r\n\r\n';

function run(load: StreamLoad): Promise<StreamLoadResult> {
  const delaysMs: number[] = [];
  let [finished, closed] = [0, 0];
  let firstFailure: string | null = null;
  return new Promise((resolve) => {
    const ended = (isWhole: boolean, tail: string): void => {
      if (isWhole) finished += 1;
      else firstFailure ??= `A stream ended with: ${tail}`;
      if (++closed === load.streams) resolve({ finished, firstFailure, ...quantiles(delaysMs) });
    };
    for (let at = 0; at < load.streams; at++)
      setTimeout(() => openStream(load, at, delaysMs, ended), (at * load.openingMs) / load.streams);
  });
}

function openStream(
  { port, body, keys }: StreamLoad,
  at: number,
  delaysMs: number[],
  ended: (isWhole: boolean, tail: string) => void,
): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let tail = '';
  socket.on('connect', () => socket.write(requestText(port, body, keys[at % keys.length]!)));
  socket.on('data', (chunk) => {
    const now = Number(process.hrtime.bigint() / 1000n);
    const text = chunk.toString('latin1');
    // An event is small and written at once, so it is never cut in two by the network of one machine.
    for (const [, sent] of text.matchAll(SENT_AT)) delaysMs.push((now - Number(sent)) / 1000);
    tail = (tail + text).slice(-400);
    if (tail.endsWith(END)) socket.destroy();
  });
  socket.on('error', (error) => {
    tail = error.message;
  });
  socket.on('close', () => ended(tail.endsWith(END) && tail.includes('[DONE]'), tail));
}

function requestText(port: number, body: string, key: string): string {
  const length = Buffer.byteLength(body);
  const head = `host: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nauthorization: Bearer ${key}`;
  return `POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`;
}

function quantiles(delaysMs: readonly number[]) {
  const sorted = Float64Array.from(delaysMs).sort();
  const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
  return { events: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

process.on('message', (load: StreamLoad) => {
  void run(load).then((result) => process.send!(result));
});
announce({});
