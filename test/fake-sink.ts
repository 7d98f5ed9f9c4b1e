import type { ClientSink } from '../src/gateway/client-sink.ts';
import { ResponseRoom, responseMemory } from '../src/gateway/guards/response-room.ts';

interface SentHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly length: number | null;
}

/** A client without a socket: it keeps what it is sent, and leaves or reads slowly when a test says so. */
export class FakeSink implements ClientSink {
  readonly #trace: string[];
  readonly #pieces: string[] = [];
  readonly #onGone: (() => void)[] = [];
  readonly #onDrain: (() => void)[] = [];
  gone = false;
  ended = false;
  destroyed = false;
  /** Writes are taken, but answered with "wait for drain". */
  isFull = false;
  sent: SentHead | null = null;
  room = new ResponseRoom(responseMemory(), null);

  /** Notes `head`, `write`, `end` and `destroy` in the trace. */
  constructor(trace: string[] = []) {
    this.#trace = trace;
  }

  get headSent(): boolean {
    return this.sent !== null;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  get json(): Record<string, unknown> {
    return JSON.parse(this.text);
  }

  /** The payloads of a stream's frames, its terminator included. */
  get frames(): string[] {
    return this.text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: '))
      .map((frame) => frame.slice('data: '.length));
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone.push(listener);
  }

  onDrain(listener: () => void): void {
    this.#onDrain.push(listener);
  }

  head(status: number, lines: string, length: number | null): void {
    if (this.sent !== null) throw new Error('A second head was sent.');
    this.#trace.push('head');
    const pairs = lines.split('\r\n').filter((line) => line !== '');
    this.sent = { status, headers: Object.fromEntries(pairs.map((line) => line.split(/: (.*)/, 2))), length };
  }

  write(bytes: Buffer | string): boolean {
    this.#take('write', bytes);
    return !this.isFull;
  }

  end(bytes: Buffer | string = ''): void {
    this.#take('end', bytes);
    this.ended = true;
  }

  destroy(): void {
    this.#trace.push('destroy');
    this.destroyed = true;
    this.leave();
  }

  /** The client closes its connection. */
  leave(): void {
    if (this.gone) return;
    this.gone = true;
    for (const listener of this.#onGone) listener();
  }

  /** The client has read everything. */
  drain(): void {
    this.isFull = false;
    for (const listener of this.#onDrain) listener();
  }

  #take(what: string, bytes: Buffer | string): void {
    if (this.sent === null) throw new Error('A body was sent before its head.');
    if (this.ended) throw new Error('Bytes were sent after the end.');
    if (this.gone) throw new Error('Bytes were sent to a client that is gone.');
    this.#trace.push(what);
    this.#pieces.push(bytes.toString());
  }
}
