import { LIMITS } from '../limits.ts';

const WHOLE = 100;

/**
 * Second retries are a share of the calls: every first attempt puts that share into a bucket of bounded size, every
 * second retry takes a whole one out. When all hosts fail, retries cannot multiply the load for long.
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

  /** Takes one retry, if there is one. */
  spend(): boolean {
    if (this.#percent === 0 || this.#hundredths < WHOLE) return false;
    this.#hundredths -= WHOLE;
    return true;
  }
}
