const BUCKETS = 10;

/** How many calls of the last while failed: a ring of counters, so that it never grows and a call costs an addition. */
export class FailureWindow {
  readonly #bucketMs: number;
  readonly #calls = new Uint32Array(BUCKETS);
  readonly #failures = new Uint32Array(BUCKETS);
  /** The number of the newest bucket, counted from the clock's beginning. */
  #newest = 0;

  constructor(windowMs: number) {
    this.#bucketMs = windowMs / BUCKETS;
  }

  add(nowMs: number, failed: boolean): void {
    const at = this.#turnTo(nowMs);
    this.#calls[at]!++;
    if (failed) this.#failures[at]!++;
  }

  /** Whether at least that share of at least so many calls failed. */
  exceeds(nowMs: number, percent: number, callsMin: number): boolean {
    this.#turnTo(nowMs);
    const calls = sum(this.#calls);
    return calls >= callsMin && sum(this.#failures) * 100 >= calls * percent;
  }

  clear(): void {
    this.#calls.fill(0);
    this.#failures.fill(0);
  }

  /** Empties the buckets that time has passed over; the answer is where the newest lies. */
  #turnTo(nowMs: number): number {
    const bucket = Math.floor(nowMs / this.#bucketMs);
    for (let passed = Math.min(bucket - this.#newest, BUCKETS); passed > 0; passed--) {
      const at = (bucket - passed + 1) % BUCKETS;
      this.#calls[at] = 0;
      this.#failures[at] = 0;
    }
    this.#newest = Math.max(bucket, this.#newest);
    return this.#newest % BUCKETS;
  }
}

function sum(counts: Uint32Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
