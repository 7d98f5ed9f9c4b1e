import { isRetryable } from './errors.ts';
import { type Fetch, isAbort } from './fetch.ts';

/** Resolves after this many milliseconds; rejects if the signal is aborted before. */
export type Wait = (ms: number, signal?: AbortSignal | null) => Promise<void>;

export interface RetryOptions {
  /** How often a call is sent again; 2 by default. */
  readonly retries?: number | undefined;
  readonly wait?: Wait | undefined;
}

const RETRIES_DEFAULT = 2;
const DELAY_MS = 500;
const DELAY_MS_MAX = 8_000;
/** A response that asks for a longer wait is given to the caller instead. */
const RETRY_AFTER_MS_MAX = 60_000;

/**
 * A `fetch` that sends a failed request again if that can help. Give each request an `Idempotency-Key`: a response that
 * was lost on its way is then sent again, and not paid for twice.
 */
export function retryingFetch(fetch: Fetch, { retries = RETRIES_DEFAULT, wait = waitFor }: RetryOptions = {}): Fetch {
  return async (input, init) => {
    for (let tried = 0; ; tried++) {
      let response: Response | null = null;
      try {
        // The body of a Request can be read once.
        response = await fetch(input instanceof Request ? input.clone() : input, init);
        if (tried >= retries || response.ok || !isRetryable(response)) return response;
      } catch (error) {
        if (tried >= retries || isAbort(error, init?.signal)) throw error;
      }
      const delayMs = delayBefore(tried, response);
      if (response !== null && delayMs > RETRY_AFTER_MS_MAX) return response;
      // A body that broke off cannot be cancelled, which must not end the retries.
      await response?.body?.cancel().catch(() => {});
      await wait(delayMs, init?.signal);
    }
  };
}

function delayBefore(tried: number, response: Response | null): number {
  const asked = retryAfterMs(response?.headers.get('retry-after') ?? null);
  if (asked !== null) return asked;
  // Clients that failed together must not retry together.
  return Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** tried) * (0.5 + Math.random() / 2);
}

/** `Retry-After` is a number of seconds or a date. */
function retryAfterMs(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now());
}

export const waitFor: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
