/** Callers that wait for a job to end. */
export class JobWaiters {
  readonly #byJob = new Map<bigint, Set<() => void>>();
  #isClosed = false;

  /** Jobs that somebody waits for. */
  get size(): number {
    return this.#byJob.size;
  }

  /** The process stops, so nobody should wait any longer. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls back once, when something has happened to the job in this process. Returns a function that stops waiting. */
  wait(id: bigint, wake: () => void): () => void {
    const waiting = this.#byJob.get(id) ?? new Set();
    this.#byJob.set(id, waiting.add(wake));
    return () => {
      waiting.delete(wake);
      // After waking, others may wait again, in a new set.
      if (waiting.size === 0 && this.#byJob.get(id) === waiting) this.#byJob.delete(id);
    };
  }

  wake(id: bigint): void {
    const waiting = this.#byJob.get(id);
    if (waiting === undefined) return;
    this.#byJob.delete(id);
    for (const wake of waiting) wake();
  }

  close(): void {
    this.#isClosed = true;
    for (const id of [...this.#byJob.keys()]) this.wake(id);
  }
}
