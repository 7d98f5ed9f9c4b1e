import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { sendRaw } from './raw-client.ts';
import { until } from './until.ts';

interface StreamClientOptions {
  /** False leaves everything in the socket until `read` is called. */
  readonly reading?: boolean;
  readonly agent?: Agent;
}

/** A client that reads a stream on a connection of its own, only when the test says so, and can leave at any moment. */
export class StreamClient {
  readonly #request: ClientRequest;
  #response: IncomingMessage | null = null;
  #reading: boolean;
  /** All that has arrived of the body. */
  text = '';
  /** `complete` ended cleanly, `cut` did not. */
  ended: 'complete' | 'cut' | null = null;

  constructor(url: string, body: unknown, headers: Record<string, string> = {}, options: StreamClientOptions = {}) {
    this.#reading = options.reading ?? true;
    this.#request = sendRaw(`${url}/v1/chat/completions`, body, {
      headers,
      ...(options.agent !== undefined && { agent: options.agent }),
    });
    this.#request.on('response', (response) => this.#opened(response));
    this.#request.on('close', () => {
      this.ended ??= this.#response?.complete ? 'complete' : 'cut';
    });
  }

  #opened(response: IncomingMessage): void {
    this.#response = response;
    response.on('error', () => {});
    response.on('close', () => {
      this.ended = response.complete ? 'complete' : 'cut';
    });
    if (this.#reading) this.read();
  }

  /** Null until the head has arrived. */
  get status(): number | null {
    return this.#response?.statusCode ?? null;
  }

  get headers(): IncomingHttpHeaders {
    return this.#response?.headers ?? {};
  }

  get requestId(): string {
    return String(this.headers['x-gateway-request-id']);
  }

  /** Whole server-sent events, comments too. */
  get events(): string[] {
    return this.text.split('\n\n').slice(0, -1);
  }

  /** The model's words so far. */
  get content(): string {
    return this.events.map(contentOf).join('');
  }

  /** Begins to read what is waiting and what comes. */
  read(): void {
    this.#reading = true;
    this.#response?.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('utf8');
    });
  }

  /** Reads one piece, and no more. */
  readOnce(): number {
    const chunk = this.#response?.read() as Buffer | null | undefined;
    if (chunk == null) return 0;
    this.text += chunk.toString('utf8');
    return chunk.length;
  }

  leave(): void {
    this.#request.destroy();
  }

  head(): Promise<void> {
    return until(() => this.status !== null, 'the head arrives');
  }

  end(): Promise<void> {
    return until(() => this.ended !== null, 'the answer ends');
  }

  has(condition: (client: StreamClient) => boolean, what: string): Promise<void> {
    return until(() => condition(this), what);
  }
}

function contentOf(event: string): string {
  if (!event.startsWith('data: {')) return '';
  const { choices } = JSON.parse(event.slice('data: '.length)) as { choices?: { delta?: { content?: string } }[] };
  return choices?.[0]?.delta?.content ?? '';
}
