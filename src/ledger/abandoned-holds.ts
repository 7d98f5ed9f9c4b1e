import type { LedgerOutcome } from '../store/store.ts';

/** Holds whose settlement failed. They are voided as soon as the store is available, and finally by the next start. */
export class AbandonedHolds {
  readonly #void: (id: bigint) => Promise<LedgerOutcome>;
  readonly #ids = new Set<bigint>();
  /** Holds whose void waits for a commit. Submitting them again would fill the queue that settlements need. */
  readonly #submitted = new Set<bigint>();

  constructor(voidHold: (id: bigint) => Promise<LedgerOutcome>) {
    this.#void = voidHold;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Tries to void it now. */
  add(id: bigint): void {
    this.#ids.add(id);
    this.#tryToVoid(id);
  }

  /** Tries again what has failed. */
  voidAll(): void {
    for (const id of this.#ids) if (!this.#submitted.has(id)) this.#tryToVoid(id);
  }

  #tryToVoid(id: bigint): void {
    this.#submitted.add(id);
    const ended = ({ kind }: Pick<LedgerOutcome, 'kind'>): void => {
      this.#submitted.delete(id);
      if (kind !== 'operation_failed') this.#ids.delete(id);
    };
    this.#void(id).then(ended, () => ended({ kind: 'operation_failed' }));
  }
}
