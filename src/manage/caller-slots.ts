import type { Actor } from '../operator/actor.ts';
import { ManageError } from './error.ts';

/** How many responses of one kind each caller has under way. */
export class CallerSlots {
  readonly #taken = new Map<string, number>();
  readonly #what: string;
  readonly #perCallerMax: number;
  readonly #max: number;
  #total = 0;

  constructor(what: string, perCallerMax: number, max = Number.POSITIVE_INFINITY) {
    this.#what = what;
    this.#perCallerMax = perCallerMax;
    this.#max = max;
  }

  /** Throws if there are too many already; otherwise returns the function that ends this one. */
  take({ kind, id, name }: Actor): () => void {
    const caller = `${kind} ${id ?? name}`;
    const taken = this.#taken.get(caller) ?? 0;
    if (taken >= this.#perCallerMax) throw this.#tooMany(`At most ${this.#perCallerMax} ${this.#what}`);
    if (this.#total >= this.#max) throw this.#tooMany(`At most ${this.#max} ${this.#what} of all callers`);
    this.#taken.set(caller, taken + 1);
    this.#total++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#total--;
      const left = (this.#taken.get(caller) ?? 1) - 1;
      if (left === 0) this.#taken.delete(caller);
      else this.#taken.set(caller, left);
    };
  }

  #tooMany(which: string): ManageError {
    return new ManageError(429, 'rate_limit_exceeded', `${which} run at once. Wait for one to end.`, {
      retryMs: 1_000,
    });
  }
}
