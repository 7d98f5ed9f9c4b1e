/** A number that several parts of the process add to. */
export interface Count {
  readonly value: number;
  add(by: number): void;
}

export class LocalCount implements Count {
  value = 0;

  add(by: number): void {
    this.value += by;
  }
}

/** A count that the threads of a process share. */
export class SharedCount implements Count {
  readonly #words: Int32Array;

  /** `words` is one shared integer. */
  constructor(words: Int32Array) {
    this.#words = words;
  }

  get value(): number {
    return Atomics.load(this.#words, 0);
  }

  add(by: number): void {
    Atomics.add(this.#words, 0, by);
  }
}
