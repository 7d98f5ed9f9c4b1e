/**
 * Wakes a thread that sleeps until there is work. That is quicker than a message alone, which its event loop has to notice
 * and hand to a listener. All threads have a bell over the same shared integer, which is zero at first.
 */
export class Bell {
  readonly #rings: Int32Array;

  constructor(rings: Int32Array) {
    this.#rings = rings;
  }

  ring(): void {
    Atomics.add(this.#rings, 0, 1);
    Atomics.notify(this.#rings, 0, 1);
  }

  /** Read it before looking for work: `sleep` returns at once if the bell has rung since. */
  get rings(): number {
    return Atomics.load(this.#rings, 0);
  }

  sleep(seenRings: number, msMax: number): void {
    Atomics.wait(this.#rings, 0, seenRings, msMax);
  }
}
