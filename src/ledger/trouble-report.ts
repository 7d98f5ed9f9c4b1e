import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

/** Called with why the ledger cannot be written, and later with null, when it can be again. */
export type OnTrouble = (why: unknown) => void;

/** Reports trouble with the ledger once, and its end once, however many calls fail: their callers learn no details. */
export class TroubleReport {
  readonly #clock: Clock;
  readonly #onTrouble: OnTrouble;
  #lastMs: number | null = null;

  constructor(clock: Clock, onTrouble: OnTrouble) {
    this.#clock = clock;
    this.#onTrouble = onTrouble;
  }

  failed(why: unknown): void {
    const isNews = this.#lastMs === null;
    this.#lastMs = this.#clock.monotonicMs();
    if (isNews) this.#onTrouble(why);
  }

  /** The trouble is over when nothing has failed for a while: a store that fails now and then must not fill the log. */
  succeeded(): void {
    if (this.#lastMs === null || this.#clock.monotonicMs() - this.#lastMs < LIMITS.storeHealthMs) return;
    this.#lastMs = null;
    this.#onTrouble(null);
  }
}
