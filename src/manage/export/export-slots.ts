import { LIMITS } from '../../limits.ts';
import type { Actor } from '../../operator/actor.ts';
import { ManageError } from '../error.ts';

/** How many exports each caller has under way. */
export class ExportSlots {
  readonly #taken = new Map<string, number>();

  /** Throws if the caller has too many already; otherwise returns the function that ends this one. */
  take({ kind, id, name }: Actor): () => void {
    const caller = `${kind} ${id ?? name}`;
    const taken = this.#taken.get(caller) ?? 0;
    if (taken >= LIMITS.managementExportsMax)
      throw new ManageError(
        429,
        'rate_limit_exceeded',
        `At most ${LIMITS.managementExportsMax} exports run at once. Wait for one to end.`,
        1_000,
      );
    this.#taken.set(caller, taken + 1);
    return () => {
      const left = (this.#taken.get(caller) ?? 1) - 1;
      if (left === 0) this.#taken.delete(caller);
      else this.#taken.set(caller, left);
    };
  }
}
