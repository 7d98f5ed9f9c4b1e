/** Tells calls under way that the process will not wait for them any longer. */
export class Shutdown {
  readonly #listeners = new Set<() => void>();
  #due = false;

  /** Gives the function that forgets the listener again. */
  onDue(listener: () => void): () => void {
    if (this.#due) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get callsUnderWay(): number {
    return this.#listeners.size;
  }

  cutShort(): void {
    this.#due = true;
    for (const listener of [...this.#listeners]) listener();
  }
}
