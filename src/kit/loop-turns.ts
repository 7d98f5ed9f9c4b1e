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

  /** The count at which every socket will have been looked at since now: the turn that has begun may be past this one's. */
  afterNextLook(): number {
    const until = this.#count + 2;
    if (this.#count >= this.#until) setImmediate(this.#next);
    this.#until = until;
    return until;
  }
}
