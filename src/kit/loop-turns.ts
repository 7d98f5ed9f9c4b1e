/**
 * Counts turns of the event loop, but only while somebody waits for one. In each turn Node reads what has arrived on every
 * socket.
 */
export class LoopTurns {
  #count = 0;
  #until = 0;
  readonly #next = (): void => {
    this.#count++;
    if (this.#count < this.#until) setImmediate(this.#next);
  };

  get count(): number {
    return this.#count;
  }

  /** The count at which every socket has been read again: two turns, because the current one may have passed some already. */
  afterNextLook(): number {
    const until = this.#count + 2;
    if (this.#count >= this.#until) setImmediate(this.#next);
    this.#until = until;
    return until;
  }
}
