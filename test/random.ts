/** The same numbers for the same seed, so that what failed once can be made to fail again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from 0 up to, not including, the bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError('There is nothing to pick from.');
    return items[this.below(items.length)]!;
  }
}

/** The suite's own seed, unless another one is given, for other cases or to repeat a failure. */
export function seedFrom(environment: { readonly TOLLGATE_SEED?: string | undefined }, usual: number): number {
  const given = environment.TOLLGATE_SEED;
  if (given === undefined || given === '') return usual;
  if (!/^\d{1,10}$/.test(given)) throw new RangeError('TOLLGATE_SEED must be a whole number.');
  return Number(given);
}
