import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../kit/clock.ts';
import { startThread } from '../kit/start-thread.ts';
import { LIMITS } from '../limits.ts';
import type { CountAnswer, CountRequest } from './count-tokens-worker.ts';
import type { Encoding } from './encoding.ts';

export interface CountedTokens {
  readonly tokens: number;
}

/**
 * Exact counts, for the few requests that the byte bound alone would refuse. The tokenizer runs in a thread that starts
 * on first use and is terminated when it takes too long: a hostile text could keep it busy for minutes.
 */
export class TokenCounter {
  readonly #clock: Clock;
  readonly #pending = new Map<number, (tokens: number | null) => void>();
  #worker: Worker | null = null;
  #idle: Timer | null = null;
  #lastId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null means unknown: too much text, a piece too long to count exactly, a timeout, or too many waiting requests. */
  count(encoding: Encoding, texts: readonly string[]): Promise<CountedTokens | null> {
    if (this.#pending.size >= LIMITS.tokenCountsPendingMax || !isCountable(texts)) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<CountedTokens | null>();
    const id = ++this.#lastId;
    const timer = this.#clock.after(LIMITS.tokenCountMs, () => void this.close(), { unref: true });
    this.#pending.set(id, (tokens) => {
      timer.cancel();
      resolve(tokens === null ? null : { tokens });
    });
    this.#idle?.cancel();
    this.#worker ??= this.#start();
    this.#worker.postMessage({ id, encoding, texts } satisfies CountRequest);
    return promise;
  }

  /** Terminates the thread. Waiting counts resolve to unknown, and the next count starts a new thread. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#idle?.cancel();
    for (const settle of this.#pending.values()) settle(null);
    this.#pending.clear();
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread(import.meta.url, 'count-tokens-worker', {
      resourceLimits: { maxOldGenerationSizeMb: LIMITS.tokenCounterHeapMbMax },
    });
    const giveUp = () => {
      if (this.#worker === worker) void this.close();
    };
    worker.on('message', (answer: CountAnswer) => this.#settle(answer));
    worker.on('error', giveUp);
    worker.on('exit', giveUp);
    worker.unref();
    return worker;
  }

  #settle({ id, tokens }: CountAnswer): void {
    this.#pending.get(id)?.(tokens);
    this.#pending.delete(id);
    if (this.#pending.size === 0) {
      this.#idle = this.#clock.after(LIMITS.tokenCounterIdleMs, () => void this.close(), { unref: true });
    }
  }
}

function isCountable(texts: readonly string[]): boolean {
  return texts.reduce((chars, text) => chars + text.length, 0) <= LIMITS.tokenCountCharsMax;
}
