import { connectionError } from './errors.ts';
import type { Fetch } from './fetch.ts';
import type { JsonObject } from './json.ts';
import { identityOf, type PendingReceipt, type Receipt, receiptFromEvent, receiptFromHeaders } from './receipt.ts';
import { type Lookup, lookupFor, readReceipt } from './receipt-lookup.ts';
import { SseParser } from './sse.ts';
import { errorIn, readStreamEvent } from './stream-events.ts';

/** A response whose receipt is being collected. */
export interface Observed {
  /** In place of the original, whose body is read here. */
  readonly response: Response;
  /** Arrives when a stream ends or is left. Null if the response has no receipt. Never rejects. */
  readonly receipt: Promise<Receipt | null>;
  /** How a stream failed before its first content; null if it did not, or if nobody asked for this. */
  readonly failure: StreamFailure | null;
  /** Whether a stream has neither ended nor been left. */
  isOpen(): boolean;
}

/** An error event, or a body that ended early. */
export type StreamFailure = { readonly error: JsonObject } | { readonly cut: unknown };

export interface ObserveOptions {
  /** Hand a stream out only at its first content, so that a failure before that can still be dealt with. */
  readonly awaitContent?: boolean;
}

const receipts = new WeakMap<Response, Promise<Receipt | null>>();

/** The receipt of a response that came through `observed`. */
export function receiptOf(response: Response): Promise<Receipt | null> {
  return receipts.get(response) ?? Promise.resolve(null);
}

export function setReceipt(response: Response, receipt: Promise<Receipt | null>): Response {
  receipts.set(response, receipt);
  return response;
}

/** A `fetch` that collects the receipt of each response, for `receiptOf`. */
export function observed(fetch: Fetch): Fetch {
  return async (input, init) => {
    const { response, receipt } = await observe(fetch, input, init);
    return setReceipt(response, receipt);
  };
}

export async function observe(
  fetch: Fetch,
  input: string | URL | Request,
  init?: RequestInit,
  options: ObserveOptions = {},
): Promise<Observed> {
  const response = await fetch(input, init);
  const identity = identityOf(response.headers);
  if (identity === null || response.body === null || !isStream(response)) return unwatched(response);
  const stream = new WatchedStream(response, response.body, identity, lookupFor(fetch, input, init));
  if (options.awaitContent === true) await stream.readToContent();
  return stream.observed();
}

export function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

function unwatched(response: Response): Observed {
  return {
    response,
    receipt: Promise.resolve(receiptFromHeaders(response.headers)),
    failure: null,
    isOpen: () => false,
  };
}

/** The response with its whole body read, so that a broken connection fails here, not in the caller's code. */
export async function readWhole(response: Response): Promise<Response> {
  try {
    return new Response(await response.arrayBuffer(), response);
  } catch (error) {
    throw connectionError(error, receiptFromHeaders(response.headers), true);
  }
}

/** A stream that is passed on as it arrives; its events are read along the way. */
class WatchedStream {
  readonly #response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #identity: PendingReceipt;
  readonly #lookup: Lookup;
  readonly #parser = new SseParser();
  readonly #receipt: Promise<Receipt | null>;
  #resolve: (receipt: Receipt) => void = () => {};
  #fromEvent: Receipt | null = null;
  #error: JsonObject | null = null;
  #hasContent = false;
  #failure: StreamFailure | null = null;
  /** Read before the response was handed out. */
  #waiting: Uint8Array[] = [];
  #finished: Promise<void> | null = null;

  constructor(response: Response, body: ReadableStream<Uint8Array>, identity: PendingReceipt, lookup: Lookup) {
    this.#response = response;
    this.#reader = body.getReader();
    this.#identity = identity;
    this.#lookup = lookup;
    this.#receipt = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  async readToContent(): Promise<void> {
    try {
      // What follows an error is read too: at its end the call is settled.
      for (let chunk = await this.#read(); chunk !== null; chunk = await this.#read()) {
        this.#waiting.push(chunk);
        if (this.#hasContent) return;
      }
    } catch (cut) {
      this.#failure = { cut };
    }
    if (this.#error !== null) this.#failure = { error: this.#error };
  }

  observed(): Observed {
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const chunk = this.#waiting.shift() ?? (await this.#read());
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: async (reason) => {
        await this.#reader.cancel(reason).catch(() => {});
        await this.#finish();
      },
    });
    const response = new Response(body, this.#response);
    return { response, receipt: this.#receipt, failure: this.#failure, isOpen: () => this.#finished === null };
  }

  /** Null at the end, which waits for the receipt, so that the cost is known when the stream has been read. */
  async #read(): Promise<Uint8Array | null> {
    try {
      const { done, value } = await this.#reader.read();
      if (!done) {
        this.#notice(value);
        return value;
      }
    } catch (error) {
      await this.#finish();
      throw error;
    }
    await this.#finish();
    return null;
  }

  #notice(bytes: Uint8Array): void {
    for (const event of this.#parser.push(bytes)) {
      const { meaning, body } = readStreamEvent(event);
      if (meaning === 'content' || meaning === 'end') this.#hasContent = true;
      if (meaning === 'error') this.#error ??= errorIn(body!);
      this.#fromEvent ??= body && receiptFromEvent(this.#identity, body);
    }
  }

  #finish(): Promise<void> {
    this.#finished ??= (async () => {
      const known = this.#fromEvent ?? (await readReceipt(this.#lookup, this.#identity.requestId));
      this.#resolve(known ?? this.#identity);
    })();
    return this.#finished;
  }
}
