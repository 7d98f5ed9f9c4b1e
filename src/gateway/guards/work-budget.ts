import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/**
 * A budget of work per key and second. What a request costs may be known only afterwards and may exceed the whole budget,
 * so a full budget admits anything, and the key then waits until its debt is paid off.
 */
export class WorkBudget {
  readonly #clock: Clock;
  readonly #unitMs: number;
  readonly #burstMs: number;
  readonly #keysMax: number;
  /** When a key's budget will be full again. A key that is not here has a full one. */
  readonly #fullAtMs = new Map<bigint, number>();

  constructor(perSecond: number, burst: number, clock: Clock, keysMax: number = LIMITS.rateLimitedKeysMax) {
    this.#clock = clock;
    this.#unitMs = 1000 / perSecond;
    this.#burstMs = burst * this.#unitMs;
    this.#keysMax = keysMax;
  }

  /** What the key may spend now: all it wants if its budget is full, nothing if it is in debt. */
  left(keyId: bigint): number {
    return this.#leftBefore(this.waitMs(keyId));
  }

  /** Spends these units, or returns false and spends nothing if there are not as many left. */
  take(keyId: bigint, units: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = this.#fullAtMs.get(keyId) ?? 0;
    if (this.#leftBefore(Math.max(0, fullAtMs - nowMs)) < units) return false;
    if (this.#fullAtMs.size >= this.#keysMax) this.#forgetOne(keyId);
    this.#fullAtMs.set(keyId, Math.max(fullAtMs, nowMs) + units * this.#unitMs);
    return true;
  }

  spend(keyId: bigint, units: number): void {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(this.#fullAtMs.get(keyId) ?? 0, nowMs) + units * this.#unitMs;
    if (this.#fullAtMs.size >= this.#keysMax) this.#forgetOne(keyId);
    this.#fullAtMs.set(keyId, fullAtMs);
  }

  /** How long until the budget is full, so that any request is admitted. */
  waitMs(keyId: bigint): number {
    return Math.max(0, (this.#fullAtMs.get(keyId) ?? 0) - this.#clock.monotonicMs());
  }

  /** What is left when the budget will be full after this time. */
  #leftBefore(waitMs: number): number {
    if (waitMs === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, Math.floor((this.#burstMs - waitMs) / this.#unitMs));
  }

  #forgetOne(keyId: bigint): void {
    if (!this.#fullAtMs.has(keyId)) this.#fullAtMs.delete(this.#fullAtMs.keys().next().value!);
  }
}
