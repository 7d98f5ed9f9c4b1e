import { LIMITS } from '../limits.ts';

/**
 * Counts refusals in a row that may be about our account or only about one request: an aggregator's 402 can be caused by a
 * single `max_tokens`. They count only if several accounts get them, so that no account can pause a host for the others.
 */
export class RefusalStreak {
  readonly #accounts = new Set<bigint>();
  #refusals = 0;
  /** How many pauses have followed each other. */
  #pauses = 0;

  /** True for the first refusal since the host last served anyone. */
  add(accountId: bigint): boolean {
    this.#refusals++;
    if (this.#accounts.size < LIMITS.hostRefusalAccounts) this.#accounts.add(accountId);
    return this.#refusals === 1 && this.#pauses === 0;
  }

  get isAgainstHost(): boolean {
    return this.#refusals >= LIMITS.hostRefusalsInARow && this.#accounts.size >= LIMITS.hostRefusalAccounts;
  }

  /** How long the host is paused now; each pause in a row is twice as long as the previous one. */
  pauseMs(maxMs: number): number {
    const pauseMs = Math.min(LIMITS.hostRefusalPauseMs * 2 ** this.#pauses, maxMs);
    this.#pauses++;
    this.#startOver();
    return pauseMs;
  }

  /** The host served someone. */
  clear(): void {
    this.#pauses = 0;
    this.#startOver();
  }

  #startOver(): void {
    this.#refusals = 0;
    // Clearing a set makes a new table, and this runs for every response.
    if (this.#accounts.size > 0) this.#accounts.clear();
  }
}
