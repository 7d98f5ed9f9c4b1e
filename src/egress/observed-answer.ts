import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerReceiver } from './sender.ts';

/** Reports the status of an answer and passes everything on. */
export class ObservedAnswer implements AnswerReceiver {
  readonly #receiver: AnswerReceiver;
  readonly #onStatus: (status: number) => void;

  constructor(receiver: AnswerReceiver, onStatus: (status: number) => void) {
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
