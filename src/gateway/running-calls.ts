import { type Count, LocalCount } from '../kit/counts.ts';

/**
 * Kept in an array, not in a Set: a Set that changes with every call leaves old tables behind, which keep the calls' data
 * alive until the next full garbage collection. That cost a quarter of the CPU under load.
 */
interface Listener {
  readonly run: () => void;
  at: number;
}

/** Counts running calls, and notifies them when a shutdown no longer waits for them. */
export class RunningCalls {
  readonly #listeners: Listener[] = [];
  readonly #idleWaiters: (() => void)[] = [];
  #count = 0;
  readonly #inProcess: Count;
  #cutOff = false;

  /** `inProcess` counts the calls of all threads. */
  constructor(inProcess: Count = new LocalCount()) {
    this.#inProcess = inProcess;
  }

  /** Returns a function that removes the listener. */
  onCutOff(run: () => void): () => void {
    if (this.#cutOff) {
      run();
      return () => {};
    }
    const listener: Listener = { run, at: this.#listeners.length };
    this.#listeners.push(listener);
    return () => this.#forget(listener);
  }

  /** Moves the last listener into the place of the removed one. */
  #forget(listener: Listener): void {
    if (this.#listeners[listener.at] !== listener) return;
    const last = this.#listeners.pop()!;
    if (last === listener) return;
    this.#listeners[listener.at] = last;
    last.at = listener.at;
  }

  /** The process no longer waits: a call that begins now would be cut off. */
  get areCutOff(): boolean {
    return this.#cutOff;
  }

  get count(): number {
    return this.#count;
  }

  /** With the calls of other threads. */
  get countInProcess(): number {
    return this.#inProcess.value;
  }

  begin(): void {
    this.#count++;
    this.#inProcess.add(1);
  }

  /** Call this when the call is settled and its response is finished. */
  end(): void {
    this.#count--;
    this.#inProcess.add(-1);
    if (this.#count === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Resolves when no call is running. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  cutOff(): void {
    this.#cutOff = true;
    for (const { run } of [...this.#listeners]) run();
  }
}
