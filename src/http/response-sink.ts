import type { ServerResponse } from 'node:http';
import type { ClientSink } from '../gateway/client-sink.ts';

/** The client as a real response. Its close, not the request's, says that nobody listens any more. */
export class ResponseSink implements ClientSink {
  readonly #response: ServerResponse;
  #gone = false;
  #ended = false;
  #onGone: (() => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', () => this.#closed());
    response.on('error', () => this.#closed());
  }

  get gone(): boolean {
    return this.#gone || this.#response.destroyed;
  }

  get headSent(): boolean {
    return this.#response.headersSent;
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone.push(listener);
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  head(status: number, headers: Record<string, string>): void {
    this.#response.writeHead(status, headers);
  }

  write(bytes: Buffer | string): boolean {
    return this.#response.write(bytes);
  }

  end(bytes?: Buffer | string): void {
    this.#ended = true;
    this.#response.end(bytes);
  }

  destroy(): void {
    this.#gone = true;
    this.#response.destroy();
  }

  #closed(): void {
    if (this.#ended || this.#gone) return;
    this.#gone = true;
    for (const listener of this.#onGone) listener();
    this.#onGone = [];
  }
}
