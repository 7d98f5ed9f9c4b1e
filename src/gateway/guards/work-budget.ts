import type { Clock } from '../../kit/clock.ts';
import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';

/**
 * A budget of work per key and second. What a request costs may be known only afterwards and may exceed the whole budget,
 * so a full budget admits anything, and the key then waits until its debt is paid off.
 */
export class WorkBudget {
  readonly #clock: Clock;
  readonly #unitMs: number;
  readonly #burstMs: number;
  /** When a key's budget will be full again. A key that is not here has a full one. */
  readonly #fullAtMs: NumbersById;

  constructor(
    perSecond: number,
    burst: number,
    clock: Clock,
    fullAtMs: NumbersById = new LocalNumbers(LIMITS.limitedIdsMax),
  ) {
    this.#clock = clock;
    this.#unitMs = 1000 / perSecond;
    this.#burstMs = burst * this.#unitMs;
    this.#fullAtMs = fullAtMs;
  }

  /** What the key may spend now: all it wants if its budget is full, nothing if it is in debt. */
  left(keyId: bigint): number {
    return this.#leftBefore(this.waitMs(keyId));
  }

  /** Spends these units, or returns false and spends nothing if there are not as many left. */
  take(keyId: bigint, units: number): boolean {
    return this.#spend(keyId, units, true);
  }

  spend(keyId: bigint, units: number): void {
    this.#spend(keyId, units, false);
  }

  #spend(keyId: bigint, units: number, onlyWhatIsLeft: boolean): boolean {
    const nowMs = this.#clock.monotonicMs();
    const numbers = this.#fullAtMs;
    numbers.lock();
    const fullAtMs = numbers.get(keyId) ?? 0;
    const isSpent = !onlyWhatIsLeft || this.#leftBefore(Math.max(0, fullAtMs - nowMs)) >= units;
    if (isSpent) numbers.set(keyId, Math.max(fullAtMs, nowMs) + units * this.#unitMs);
    numbers.unlock();
    return isSpent;
  }

  /** How long until the budget is full, so that any request is admitted. */
  waitMs(keyId: bigint): number {
    this.#fullAtMs.lock();
    const fullAtMs = this.#fullAtMs.get(keyId) ?? 0;
    this.#fullAtMs.unlock();
    return Math.max(0, fullAtMs - this.#clock.monotonicMs());
  }

  /** What is left when the budget will be full after this time. */
  #leftBefore(waitMs: number): number {
    if (waitMs === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, Math.floor((this.#burstMs - waitMs) / this.#unitMs));
  }
}
