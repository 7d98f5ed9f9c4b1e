import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Account, KeyRow, Store } from '../store/store.ts';

/** A page of everything that alerts can be about. */
type SweptPage = { readonly isLast: boolean } & (
  | { readonly accounts: readonly Account[] }
  | { readonly keys: readonly KeyRow[] }
);

/** Goes through all accounts and then all keys, a page per call, soon after the start and then once an hour. */
export class Sweep {
  readonly #store: Pick<Store, 'listAccounts' | 'listKeys'>;
  readonly #clock: Clock;
  #stage: 'accounts' | 'keys' | 'rest' = 'accounts';
  #after: bigint | null = null;
  #restUntilMs = 0;

  constructor(store: Pick<Store, 'listAccounts' | 'listKeys'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  restart(): void {
    this.#stage = 'accounts';
    this.#after = null;
  }

  /** Null while it rests. */
  async next(): Promise<SweptPage | null> {
    if (this.#stage === 'rest') {
      if (this.#clock.monotonicMs() < this.#restUntilMs) return null;
      this.restart();
    }
    return this.#stage === 'accounts' ? this.#accounts() : this.#keys();
  }

  async #accounts(): Promise<SweptPage> {
    const rows = await this.#store.listAccounts({ after: this.#after, limit: LIMITS.alertSweepRows });
    this.#after = rows.at(-1)?.id ?? null;
    if (rows.length < LIMITS.alertSweepRows) {
      this.#stage = 'keys';
      this.#after = null;
    }
    return { accounts: rows, isLast: false };
  }

  async #keys(): Promise<SweptPage> {
    const rows = await this.#store.listKeys(null, { after: this.#after, limit: LIMITS.alertSweepRows });
    const isLast = rows.length < LIMITS.alertSweepRows;
    this.#after = rows.at(-1)?.id ?? null;
    if (isLast) {
      this.#stage = 'rest';
      this.#restUntilMs = this.#clock.monotonicMs() + LIMITS.alertSweepMs;
    }
    const keys = rows.filter((key) => key.revokedMs === null && (key.capNanousd !== null || key.personId !== null));
    return { keys, isLast };
  }
}
