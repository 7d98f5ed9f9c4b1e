import { LIMITS } from '../limits.ts';

const WHOLE = 100;

/**
 * Limits second retries to a share of all calls. Every first attempt adds that share to a bucket of limited size, every
 * second retry takes 1 out. So retries cannot multiply the load for long when all hosts fail.
 */
export class RetryBudget {
  readonly #percent: number;
  #hundredths = LIMITS.retriesSavedMax * WHOLE;

  constructor(percent: number) {
    this.#percent = percent;
  }

  feed(): void {
    this.#hundredths = Math.min(this.#hundredths + this.#percent, LIMITS.retriesSavedMax * WHOLE);
  }

  /** Takes one retry if the budget allows it. */
  spend(): boolean {
    if (this.#percent === 0 || this.#hundredths < WHOLE) return false;
    this.#hundredths -= WHOLE;
    return true;
  }
}
