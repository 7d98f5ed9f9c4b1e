import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

/**
 * Several webhooks may have one receiver. A receiver, by the origin of its URL, gets a limited number of deliveries at
 * a time, with a minimum interval between two of them, so that it is not flooded, and a slow one does not keep others
 * waiting.
 */
export class OriginPace {
  readonly #clock: Clock;
  readonly #origins = new Map<string, { running: number; nextMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a delivery, and returns the function that ends it; or, if it has to wait, for how many milliseconds at least. */
  begin(url: string): (() => void) | number {
    const name = originOf(url);
    const nowMs = this.#clock.monotonicMs();
    const origin = this.#origins.get(name) ?? { running: 0, nextMs: nowMs };
    const waitMs = origin.nextMs - nowMs;
    if (waitMs > 0) return waitMs;
    if (origin.running >= LIMITS.webhookOriginAtOnce) return LIMITS.webhookPollMs;
    origin.running += 1;
    origin.nextMs = nowMs + LIMITS.webhookOriginIntervalMs;
    this.#origins.set(name, origin);
    return () => {
      origin.running -= 1;
      if (origin.running === 0) this.#forgetIdle();
    };
  }

  #forgetIdle(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [name, { running, nextMs }] of this.#origins)
      if (running === 0 && nextMs <= nowMs) this.#origins.delete(name);
  }
}

/** A URL that cannot be read is refused when it is called. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
