import type { Clock } from '../../kit/clock.ts';
import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';

interface KeptBudgetTerms {
  readonly clock: Clock;
  readonly bytesMax?: number;
  readonly bytesPerAccountMax?: number;
  /** Where the budgets are kept; absent: in this thread. */
  readonly wholeAtMs?: NumbersById;
}

/** No account has this id. */
const ALL = -1n;

/**
 * Limits the bytes of stored responses, per account and in total: a large response can be cheap to request, and all
 * accounts share the disk. The budget refills over the time for which a response is stored.
 */
export class KeptBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  readonly #bytesPerAccountMax: number;
  /** When each account's budget will be full again; under `ALL`, that of all accounts together. */
  readonly #wholeAtMs: NumbersById;

  constructor(terms: KeptBudgetTerms) {
    this.#clock = terms.clock;
    this.#bytesMax = terms.bytesMax ?? LIMITS.idempotencyKeptBytesMax;
    this.#bytesPerAccountMax = terms.bytesPerAccountMax ?? LIMITS.idempotencyKeptBytesPerAccountMax;
    this.#wholeAtMs = terms.wholeAtMs ?? new LocalNumbers(LIMITS.limitedIdsMax);
  }

  /** Returns false and takes nothing if fewer bytes are left. */
  take(accountId: bigint, bytes: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const budgets = this.#wholeAtMs;
    budgets.lock();
    const wholeAtMs = later(budgets.get(accountId) ?? 0, nowMs, bytes / this.#bytesPerAccountMax);
    const allWholeAtMs = later(budgets.get(ALL) ?? 0, nowMs, bytes / this.#bytesMax);
    const isTaken = wholeAtMs !== null && allWholeAtMs !== null;
    if (isTaken) {
      // A forgotten account starts with a full budget; the total still limits it.
      budgets.set(accountId, wholeAtMs);
      // Last, because setting the account's number may make a full table forget this one.
      budgets.set(ALL, allWholeAtMs);
    }
    budgets.unlock();
    return isTaken;
  }
}

/** When a budget will be full again after this share is taken; null if less than that is left. */
function later(wholeAtMs: number, nowMs: number, share: number): number | null {
  const afterMs = Math.max(wholeAtMs, nowMs) + share * LIMITS.idempotencyKeyMs;
  return afterMs - nowMs > LIMITS.idempotencyKeyMs ? null : afterMs;
}
