import type { IncomingHttpHeaders } from 'node:http';
import type { RequestControl, ResponseReceiver } from '../http1/client.ts';
import type { Clock } from '../kit/clock.ts';
import { Pieces } from '../kit/pieces.ts';
import { EgressFailure, ForbiddenUrl } from './forbidden-url.ts';

interface WholeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Send = (receiver: ResponseReceiver) => RequestControl;

/** Reads a whole response. Throws if it takes too long, is too large, or ends early. */
export async function gatherResponse(
  send: Send,
  clock: Clock,
  maxBytes: number,
  timeoutMs: number,
): Promise<WholeResponse> {
  const gathering = new Gathering(maxBytes);
  const timer = clock.after(timeoutMs, () => {
    gathering.giveUp(new EgressFailure('timeout', `The host did not answer within ${timeoutMs} ms.`));
  });
  gathering.control = send(gathering);
  try {
    return await gathering.whole;
  } finally {
    timer.cancel();
  }
}

class Gathering implements ResponseReceiver {
  readonly #whole = Promise.withResolvers<WholeResponse>();
  readonly #maxBytes: number;
  readonly #pieces = new Pieces();
  #bytes = 0;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  control: RequestControl | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get whole(): Promise<WholeResponse> {
    return this.#whole.promise;
  }

  giveUp(error: Error): void {
    this.control?.cancel();
    this.#whole.reject(error);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) {
      this.#bytes += chunk.length;
      if (this.#bytes <= this.#maxBytes) this.#pieces.add(chunk);
    }
    if (this.#bytes > this.#maxBytes)
      this.giveUp(new EgressFailure('too_large', `The host's response is larger than ${this.#maxBytes} bytes.`));
  }

  end(): void {
    this.#whole.resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces.all) });
  }

  failed(error: Error): void {
    const isForCaller = error instanceof ForbiddenUrl || error instanceof EgressFailure;
    const failure = isForCaller ? error : new EgressFailure('broken', 'The host did not finish its response.', error);
    this.#whole.reject(failure);
  }
}
