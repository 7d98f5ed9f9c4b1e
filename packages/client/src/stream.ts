import { connectionError, errorFromEvent, noReceipt, streamCut } from './errors.ts';
import { throwIfAbort } from './fetch.ts';
import { receiptOf } from './observe.ts';
import type { Receipt } from './receipt.ts';
import { SseParser } from './sse.ts';
import { errorIn, readStreamEvent } from './stream-events.ts';

/** A streamed call. It is sent when the first event is asked for, and can be read once. */
export class CallStream<Event> implements AsyncIterable<Event> {
  readonly #send: () => Promise<Response>;
  readonly #signal: AbortSignal | undefined;
  /** Arrives when the stream ends or is left; rejects if the call failed before it. */
  readonly receipt: Promise<Receipt>;
  #settle: (receipt: Receipt | Promise<Receipt>) => void = () => {};
  #response: Promise<Response> | null = null;

  constructor(send: () => Promise<Response>, signal?: AbortSignal) {
    this.#send = send;
    this.#signal = signal;
    this.receipt = new Promise((resolve) => {
      this.#settle = resolve;
    });
    // Whoever reads the events gets the error there.
    this.receipt.catch(() => {});
  }

  /** Sends the call; resolves when the response begins. Reading the events does it too. */
  start(): Promise<Response> {
    this.#response ??= this.#send().catch((error: unknown) => {
      this.#settle(Promise.reject(error));
      throw error;
    });
    return this.#response;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const response = await this.start();
    const receipt = receiptOf(response);
    this.#settle(receipt.then((one) => one ?? Promise.reject(noReceipt())));
    const reader = response.body!.getReader();
    const parser = new SseParser();
    let isComplete = false;
    try {
      const read = () =>
        reader.read().catch(async (error: unknown) => {
          throwIfAbort(error, this.#signal);
          throw connectionError(error, await receipt, false);
        });
      for (let chunk = await read(); !chunk.done; chunk = await read()) {
        for (const event of parser.push(chunk.value)) {
          const { meaning, body } = readStreamEvent(event);
          if (meaning === 'error') throw errorFromEvent(errorIn(body!), await receiptAtEnd(reader, receipt));
          isComplete ||= meaning === 'end';
          if (body !== null && body.type !== 'gateway_receipt') yield body as Event;
        }
      }
      if (!isComplete) throw streamCut(await receipt);
    } finally {
      // Leaving the loop early must end the call at the gateway too.
      await reader.cancel().catch(() => {});
    }
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Reads what follows an error: the call has ended at the gateway then. */
async function receiptAtEnd(reader: Reader, receipt: Promise<Receipt | null>): Promise<Receipt | null> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // A broken connection ends it too.
  }
  return receipt;
}
