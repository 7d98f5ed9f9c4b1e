import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LIMITS } from '../limits.ts';

/** One request that reached the simulator, and what became of its response. */
export interface SimCall {
  /** Order of arrival, from 0. */
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty until the whole body has arrived. */
  body: string;
  bytesReceived: number;
  /** The whole request has arrived. */
  received: boolean;
  model: string | null;
  status: number | null;
  /** Bytes of the response body written to the socket. */
  bytesWritten: number;
  /** The socket is full: the client does not read. */
  stalled: boolean;
  /** The response ended normally and was sent completely. */
  completed: boolean;
  /** The client disconnected before that. */
  clientClosed: boolean;
}

/** The calls since the last reset; beyond the limits the oldest are forgotten. */
export class CallLog {
  /** Always the same array, so that a test may keep a reference. */
  readonly calls: SimCall[] = [];
  readonly #callsKept: number;
  #arrived = 0;
  #received = 0;
  #bytesKept = 0;
  #watchers: { readonly count: number; readonly tell: () => void }[] = [];

  constructor(callsKept: number = LIMITS.simCallsKept) {
    this.#callsKept = callsKept;
  }

  get received(): number {
    return this.#received;
  }

  open(request: IncomingMessage): SimCall {
    const call: SimCall = {
      index: this.#arrived++,
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: '',
      bytesReceived: 0,
      received: false,
      model: null,
      status: null,
      bytesWritten: 0,
      stalled: false,
      completed: false,
      clientClosed: false,
    };
    this.calls.push(call);
    return call;
  }

  receive(call: SimCall, body: string): void {
    call.body = body;
    call.received = true;
    this.#received++;
    this.#bytesKept += call.bytesReceived;
    this.#forgetOldest();
    this.#tellWatchers();
  }

  /** Calls back once this many calls have arrived since the last reset. */
  whenReceived(count: number, tell: () => void): void {
    this.#watchers.push({ count, tell });
    this.#tellWatchers();
  }

  clear(): void {
    this.calls.length = 0;
    this.#arrived = 0;
    this.#received = 0;
    this.#bytesKept = 0;
  }

  /** Removes a quarter at a time, because removing from the front moves all the others. */
  #forgetOldest(): void {
    if (this.calls.length <= this.#callsKept && this.#bytesKept <= LIMITS.simCallBytesKept) return;
    this.calls.splice(0, Math.ceil(this.calls.length / 4));
    this.#bytesKept = this.calls.reduce((sum, call) => sum + call.bytesReceived, 0);
  }

  #tellWatchers(): void {
    if (this.#watchers.length === 0) return;
    const ready = this.#watchers.filter((watcher) => watcher.count <= this.#received);
    this.#watchers = this.#watchers.filter((watcher) => watcher.count > this.#received);
    for (const watcher of ready) watcher.tell();
  }
}
