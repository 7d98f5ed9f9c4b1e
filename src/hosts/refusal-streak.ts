import { LIMITS } from '../limits.ts';

/**
 * Refusals in a row by a host that may mean us or may mean one request: an aggregator's 402 can be about a single
 * `max_tokens`. They count against the host only when several accounts meet them, so that no account can take a host
 * from the others.
 */
export class RefusalStreak {
  readonly #accounts = new Set<bigint>();
  #refusals = 0;
  /** How often in succession the streak led to a pause. */
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

  /** How long the host is paused now; each pause that follows another is twice as long. */
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
    this.#accounts.clear();
  }
}
