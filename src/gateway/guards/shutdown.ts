/**
 * Not in a Set: one that changes with every call leaves its old tables behind, and while these wait for the rare full
 * collection they keep alive whatever the calls held. That cost a quarter of the CPU under load.
 */
interface Listener {
  readonly run: () => void;
  at: number;
}

/** Knows how many calls are under way, and tells them when the process will not wait for them any longer. */
export class Shutdown {
  readonly #listeners: Listener[] = [];
  readonly #idleWaiters: (() => void)[] = [];
  #callsUnderWay = 0;
  #due = false;

  /** Gives the function that forgets the listener again. */
  onDue(run: () => void): () => void {
    if (this.#due) {
      run();
      return () => {};
    }
    const listener: Listener = { run, at: this.#listeners.length };
    this.#listeners.push(listener);
    return () => this.#forget(listener);
  }

  /** The last one takes the place of the forgotten one. */
  #forget(listener: Listener): void {
    if (this.#listeners[listener.at] !== listener) return;
    const last = this.#listeners.pop()!;
    if (last === listener) return;
    this.#listeners[listener.at] = last;
    last.at = listener.at;
  }

  get callsUnderWay(): number {
    return this.#callsUnderWay;
  }

  callBegins(): void {
    this.#callsUnderWay++;
  }

  /** Its money is settled and its last word handed over. */
  callEnds(): void {
    this.#callsUnderWay--;
    if (this.#callsUnderWay === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Resolves when no call is under way. */
  idle(): Promise<void> {
    if (this.#callsUnderWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  cutShort(): void {
    this.#due = true;
    for (const { run } of [...this.#listeners]) run();
  }
}
