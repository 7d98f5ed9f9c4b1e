import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

export interface KeptBudgetTerms {
  readonly clock: Clock;
  readonly bytesMax?: number;
  readonly bytesPerAccountMax?: number;
  readonly accountsMax?: number;
}

/**
 * Limits the bytes of stored responses, per account and in total: a large response can be cheap to request, and all
 * accounts share the disk. The budget refills over the time for which a response is stored.
 */
export class KeptBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  readonly #bytesPerAccountMax: number;
  readonly #accountsMax: number;
  /** When each account's budget will be full again. Full budgets are not listed. */
  readonly #wholeAtMs = new Map<bigint, number>();
  #allWholeAtMs = 0;

  constructor(terms: KeptBudgetTerms) {
    this.#clock = terms.clock;
    this.#bytesMax = terms.bytesMax ?? LIMITS.idempotencyKeptBytesMax;
    this.#bytesPerAccountMax = terms.bytesPerAccountMax ?? LIMITS.idempotencyKeptBytesPerAccountMax;
    this.#accountsMax = terms.accountsMax ?? LIMITS.idempotencyKeptAccountsMax;
  }

  /** Returns false and takes nothing if fewer bytes are left. */
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
    // Forgotten accounts start with a full budget; the total still limits them.
    if (this.#wholeAtMs.size >= this.#accountsMax) this.#wholeAtMs.clear();
  }
}

/** When a budget will be full again after this share is taken; null if less than that is left. */
function later(wholeAtMs: number, nowMs: number, share: number): number | null {
  const afterMs = Math.max(wholeAtMs, nowMs) + share * LIMITS.idempotencyKeyMs;
  return afterMs - nowMs > LIMITS.idempotencyKeyMs ? null : afterMs;
}
