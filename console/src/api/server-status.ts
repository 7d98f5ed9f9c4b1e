type Listener = () => void;

/** Whether the last request reached the gateway. The shell shows it and keeps asking until it does again. */
class ServerStatus {
  #isAway = false;
  readonly #listeners = new Set<Listener>();

  get isAway(): boolean {
    return this.#isAway;
  }

  reached(isReached: boolean): void {
    if (this.#isAway === !isReached) return;
    this.#isAway = !isReached;
    for (const listener of this.#listeners) listener();
  }

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export const serverStatus = new ServerStatus();
