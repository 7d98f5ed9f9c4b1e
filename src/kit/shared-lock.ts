const FREE = 0;
const TAKEN = 1;
/** Taken, and another thread may be waiting. */
const AWAITED = 2;

/** How often a thread tries again before it sleeps: the lock is held for less time than a thread takes to wake up. */
const TRIES = 200;

/** A lock between threads, for steps that take microseconds and never wait for anything. */
export class SharedLock {
  readonly #word: Int32Array;

  /** `word` is one shared integer, which is zero at first. */
  constructor(word: Int32Array) {
    this.#word = word;
  }

  lock(): void {
    const word = this.#word;
    for (let tries = 0; tries < TRIES; tries++) {
      if (Atomics.compareExchange(word, 0, FREE, TAKEN) === FREE) return;
    }
    while (Atomics.exchange(word, 0, AWAITED) !== FREE) Atomics.wait(word, 0, AWAITED);
  }

  unlock(): void {
    if (Atomics.exchange(this.#word, 0, FREE) === AWAITED) Atomics.notify(this.#word, 0, 1);
  }
}
