import type { ClientSink, WholeResponse } from '../gateway/client-sink.ts';
import { ResponseRoom, responseMemory } from '../gateway/guards/response-room.ts';

/** Stands for the client of a job's call: keeps the response, and is gone once the job is cancelled. */
export class JobSink implements ClientSink {
  readonly #onGone: (() => void)[] = [];
  readonly #pieces: Buffer[] = [];
  #head: { readonly status: number; readonly lines: string } | null = null;
  #ended = false;
  gone = false;
  /** Set when the job runs, because only then its account is known. */
  room = new ResponseRoom(responseMemory(), null);

  get headSent(): boolean {
    return this.#head !== null;
  }

  /** The response, if there was one. */
  get answer(): WholeResponse | null {
    return this.#head === null || !this.#ended ? null : { ...this.#head, body: Buffer.concat(this.#pieces) };
  }

  /** As if the client of a call closed its connection. */
  leave(): void {
    if (this.gone || this.#ended) return;
    this.gone = true;
    for (const listener of this.#onGone.splice(0)) listener();
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone.push(listener);
  }

  /** Memory is never full. */
  onDrain(): void {}

  head(status: number, lines: string): void {
    this.#head = { status, lines };
  }

  write(bytes: Buffer | string): boolean {
    this.#pieces.push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    return true;
  }

  end(bytes: Buffer | string = ''): void {
    this.write(bytes);
    this.#ended = true;
  }

  destroy(): void {
    this.leave();
  }
}
