import type { Actor } from '../operator/actor.ts';
import { ManageError } from './error.ts';

interface SlotTerms {
  /** What a slot is for, in the plural. */
  readonly what: string;
  readonly perCallerMax: number;
  /** Of all callers together; no limit by default. */
  readonly max?: number;
  /** Of these, slots only for accounts that have none, so that the people of one account cannot take them all. */
  readonly reserved?: number;
}

/** How many responses of one kind each caller has under way. */
export class CallerSlots {
  readonly #terms: SlotTerms;
  readonly #byCaller = new Map<string, number>();
  /** By account; by caller for those who do not act for one account. */
  readonly #byPayer = new Map<string, number>();
  #total = 0;

  constructor(terms: SlotTerms) {
    this.#terms = terms;
  }

  /** Throws if there are too many already; otherwise returns the function that ends this one. */
  take({ kind, id, name }: Actor, accountId: bigint | null = null): () => void {
    const { what, perCallerMax, max = Number.POSITIVE_INFINITY, reserved = 0 } = this.#terms;
    const caller = `${kind} ${id ?? name}`;
    const payer = accountId === null ? caller : `account ${accountId}`;
    if ((this.#byCaller.get(caller) ?? 0) >= perCallerMax) throw tooMany(`At most ${perCallerMax} ${what}`);
    const free = this.#byPayer.has(payer) ? max - reserved : max;
    if (this.#total >= free) throw tooMany(`At most ${free} ${what} of all callers`);
    this.#count(caller, payer, 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#count(caller, payer, -1);
    };
  }

  #count(caller: string, payer: string, change: 1 | -1): void {
    this.#total += change;
    addTo(this.#byCaller, caller, change);
    addTo(this.#byPayer, payer, change);
  }
}

function addTo(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

function tooMany(which: string): ManageError {
  return new ManageError(429, 'rate_limit_exceeded', `${which} run at once. Wait for one to end.`, { retryMs: 1_000 });
}
