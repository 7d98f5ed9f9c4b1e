/** Limits how much each id has under way at the same time. */
export class Places {
  readonly #max: number;
  readonly #taken = new Map<bigint, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work in one of the places of this id; throws `refusal` if none is free. */
  async during<Result>(id: bigint, work: () => Promise<Result>, refusal: () => Error): Promise<Result> {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= this.#max) throw refusal();
    this.#taken.set(id, taken + 1);
    try {
      return await work();
    } finally {
      const left = this.#taken.get(id)! - 1;
      if (left > 0) this.#taken.set(id, left);
      else this.#taken.delete(id);
    }
  }
}
