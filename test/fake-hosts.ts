import type { IncomingHttpHeaders } from 'node:http';
import type { OutgoingRequest, RequestControl, ResponseReceiver, Sender } from '../src/egress/sender.ts';

/** A request on its way to a host, answered by the test. */
export class SentRequest implements RequestControl {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
  readonly #receiver: ResponseReceiver;
  paused = false;
  cancelled = false;
  unreached = false;

  constructor({ origin, path, headers, body }: OutgoingRequest, receiver: ResponseReceiver) {
    this.host = new URL(origin).hostname;
    this.path = path;
    this.headers = headers;
    this.body = JSON.parse(String(body));
    this.#receiver = receiver;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  cancel(): void {
    this.cancelled = true;
  }

  head(status: number, headers: IncomingHttpHeaders = {}): void {
    this.#receiver.head(status, headers);
  }

  data(...chunks: string[]): void {
    this.#receiver.data(chunks.map((chunk) => Buffer.from(chunk)));
  }

  end(): void {
    this.#receiver.end();
  }

  fail(code: string): void {
    this.unreached = code === 'ECONNREFUSED';
    this.#receiver.failed(Object.assign(new Error(code), { code }));
  }

  /** A whole response. */
  answer(status: number, body: unknown, headers: IncomingHttpHeaders = {}): void {
    this.head(status, { 'content-type': 'application/json', ...headers });
    this.data(typeof body === 'string' ? body : JSON.stringify(body));
    this.end();
  }

  /** The head of an event stream, and these frames. */
  stream(...frames: (object | string)[]): void {
    this.head(200, { 'content-type': 'text/event-stream' });
    this.frames(...frames);
  }

  frames(...frames: (object | string)[]): void {
    const text = frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`);
    this.data(text.join(''));
  }
}

/** Hosts without sockets. Each request waits until the test has answered it. */
export class FakeHosts implements Sender {
  readonly requests: SentRequest[] = [];
  readonly #trace: string[];
  readonly #waiting: ((request: SentRequest) => void)[] = [];
  #taken = 0;

  /** Notes `send <host>` in the trace. */
  constructor(trace: string[] = []) {
    this.#trace = trace;
  }

  send(request: OutgoingRequest, receiver: ResponseReceiver): RequestControl {
    const sent = new SentRequest(request, receiver);
    this.#trace.push(`send ${sent.host}`);
    this.requests.push(sent);
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      this.#taken += 1;
      // A host never answers before `send` has returned.
      queueMicrotask(() => waiting(sent));
    }
    return sent;
  }

  /** The next request that reaches any host. */
  next(): Promise<SentRequest> {
    const already = this.requests[this.#taken];
    if (already === undefined) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken += 1;
    return Promise.resolve(already);
  }
}

const ANSWER = { id: 'chatcmpl-1', created: 1, model: 'whatever' };

export const USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

/** A whole response of the chat wire. */
export function chatAnswer(more: object = {}): object {
  const message = { role: 'assistant', content: 'Hello' };
  return {
    ...ANSWER,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
    ...more,
  };
}

/** Frames of a stream of the chat wire. */
export function chatFrame(content: string, more: object = {}): object {
  const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }];
  return { ...ANSWER, object: 'chat.completion.chunk', choices, ...more };
}

export const FINISH_FRAME = {
  ...ANSWER,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
};

export const USAGE_FRAME = { ...ANSWER, object: 'chat.completion.chunk', choices: [], usage: USAGE };
