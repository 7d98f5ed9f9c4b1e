/** Knows how many calls are under way, and tells them when the process will not wait for them any longer. */
export class Shutdown {
  readonly #listeners = new Set<() => void>();
  readonly #idleWaiters: (() => void)[] = [];
  #callsUnderWay = 0;
  #due = false;

  /** Gives the function that forgets the listener again. */
  onDue(listener: () => void): () => void {
    if (this.#due) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
    for (const listener of [...this.#listeners]) listener();
  }
}
