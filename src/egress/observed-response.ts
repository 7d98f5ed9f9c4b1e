import type { IncomingHttpHeaders } from 'node:http';
import type { ResponseReceiver } from './sender.ts';

/** Reports the status of an answer and passes everything on. */
export class ObservedResponse implements ResponseReceiver {
  readonly #receiver: ResponseReceiver;
  readonly #onStatus: (status: number) => void;

  constructor(receiver: ResponseReceiver, onStatus: (status: number) => void) {
    this.#receiver = receiver;
    this.#onStatus = onStatus;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#onStatus(status);
    this.#receiver.head(status, headers);
  }

  data(chunks: readonly Buffer[]): void {
    this.#receiver.data(chunks);
  }

  end(): void {
    this.#receiver.end();
  }

  failed(error: Error): void {
    this.#receiver.failed(error);
  }
}
