const BUCKETS = 10;

/** How many recent calls failed. A ring of counters, so that it does not grow and a call costs one addition. */
export class FailureWindow {
  readonly #bucketMs: number;
  readonly #calls = new Uint32Array(BUCKETS);
  readonly #failures = new Uint32Array(BUCKETS);
  /** The number of the newest bucket since the clock started. */
  #newest = 0;

  constructor(windowMs: number) {
    this.#bucketMs = windowMs / BUCKETS;
  }

  add(nowMs: number, failed: boolean): void {
    const at = this.#turnTo(nowMs);
    this.#calls[at]!++;
    if (failed) this.#failures[at]!++;
  }

  /** Whether at least this share of at least this many calls failed. */
  exceeds(nowMs: number, percent: number, callsMin: number): boolean {
    this.#turnTo(nowMs);
    const calls = sum(this.#calls);
    return calls >= callsMin && sum(this.#failures) * 100 >= calls * percent;
  }

  clear(): void {
    this.#calls.fill(0);
    this.#failures.fill(0);
  }

  /** Clears expired buckets; returns the index of the newest. */
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
