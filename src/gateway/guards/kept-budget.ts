import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

export interface KeptBudgetTerms {
  readonly clock: Clock;
  readonly bytesMax?: number;
  readonly bytesPerAccountMax?: number;
  readonly accountsMax?: number;
}

/**
 * How many bytes of answers are kept at a time, for one account and for all: large answers can be cheap to ask for, and
 * the disk is everybody's. Bytes come back over the time for which an answer is kept.
 */
export class KeptBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  readonly #bytesPerAccountMax: number;
  readonly #accountsMax: number;
  /** When an account's budget will be whole again; one that is whole is not remembered. */
  readonly #wholeAtMs = new Map<bigint, number>();
  #allWholeAtMs = 0;

  constructor(terms: KeptBudgetTerms) {
    this.#clock = terms.clock;
    this.#bytesMax = terms.bytesMax ?? LIMITS.idempotencyKeptBytesMax;
    this.#bytesPerAccountMax = terms.bytesPerAccountMax ?? LIMITS.idempotencyKeptBytesPerAccountMax;
    this.#accountsMax = terms.accountsMax ?? LIMITS.idempotencyKeptAccountsMax;
  }

  /** False, and nothing taken, where these bytes are more than is left. */
  take(accountId: bigint, bytes: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const wholeAtMs = later(this.#wholeAtMs.get(accountId) ?? 0, nowMs, bytes / this.#bytesPerAccountMax);
    const allWholeAtMs = later(this.#allWholeAtMs, nowMs, bytes / this.#bytesMax);
    if (wholeAtMs === null || allWholeAtMs === null) return false;
    this.#makeRoom(nowMs);
    this.#wholeAtMs.set(accountId, wholeAtMs);
    this.#allWholeAtMs = allWholeAtMs;
    return true;
  }

  #makeRoom(nowMs: number): void {
    if (this.#wholeAtMs.size < this.#accountsMax) return;
    for (const [accountId, wholeAtMs] of this.#wholeAtMs) if (wholeAtMs <= nowMs) this.#wholeAtMs.delete(accountId);
    // Who is forgotten may take anew; what all may take still holds.
    if (this.#wholeAtMs.size >= this.#accountsMax) this.#wholeAtMs.clear();
  }
}

/** The time until which a budget is not whole, after this share of it was taken; null if so much is not left. */
function later(wholeAtMs: number, nowMs: number, share: number): number | null {
  const afterMs = Math.max(wholeAtMs, nowMs) + share * LIMITS.idempotencyKeyMs;
  return afterMs - nowMs > LIMITS.idempotencyKeyMs ? null : afterMs;
}
