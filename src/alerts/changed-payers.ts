import type { CapOwner } from '../canonical/errors.ts';
import { IdMap } from '../kit/id-map.ts';
import { LIMITS } from '../limits.ts';
import type { KeyRow } from '../store/store.ts';

/** Who paid for a call, as far as alerts need to know. */
export interface Payer {
  readonly accountId: bigint;
  readonly key: KeyRow | null;
}

export interface ChangedKey {
  readonly key: KeyRow;
  /** The caps, of the key or its person, that calls were refused for. */
  readonly refusedCaps: readonly CapOwner[];
}

/** Who paid for calls that ended in another worker. */
export interface Payers {
  readonly accounts: readonly bigint[];
  readonly keys: readonly ChangedKey[];
  /** Calls may have cost the operator something, also calls that nobody paid for. */
  readonly hasLosses: boolean;
}

const NONE: readonly CapOwner[] = [];

/** Accounts and keys whose calls ended since they were last looked at. It is bounded: what does not fit is found by the sweep. */
export class ChangedPayers {
  /** Those that wait, oldest first, and whether an account is among them. */
  readonly #accounts: bigint[] = [];
  readonly #waits = new IdMap<true>();
  readonly #keys = new Map<bigint, ChangedKey>();
  #isOverfull = false;

  /** Runs for every call, so it only notes who it was. */
  note({ accountId, key }: Payer, refusedCap: CapOwner | null): void {
    if (this.#accounts.length >= LIMITS.alertChangesMax || this.#keys.size >= LIMITS.alertChangesMax) {
      this.#isOverfull = true;
      return;
    }
    if (this.#waits.get(accountId) === undefined) {
      this.#waits.set(accountId, true);
      this.#accounts.push(accountId);
    }
    if (key === null || (key.capNanousd === null && key.personId === null)) return;
    const known = this.#keys.get(key.id);
    const refusedCaps = known?.refusedCaps ?? NONE;
    const isNew = refusedCap !== null && !refusedCaps.includes(refusedCap);
    if (isNew || known?.key !== key)
      this.#keys.set(key.id, { key, refusedCaps: isNew ? [...refusedCaps, refusedCap] : refusedCaps });
  }

  /** Accounts and keys that wait to be looked at. */
  get size(): number {
    return this.#accounts.length + this.#keys.size;
  }

  /** The next ones, oldest first, at most this many. */
  takeAccounts(limit: number): bigint[] {
    const taken = this.#accounts.splice(0, limit);
    for (const id of taken) this.#waits.delete(id);
    return taken;
  }

  takeKeys(limit: number): ChangedKey[] {
    const taken = [...this.#keys.values()].slice(0, limit);
    for (const { key } of taken) this.#keys.delete(key.id);
    return taken;
  }

  /** True once after something did not fit. */
  takeOverfull(): boolean {
    const wasOverfull = this.#isOverfull;
    this.#isOverfull = false;
    return wasOverfull;
  }
}
