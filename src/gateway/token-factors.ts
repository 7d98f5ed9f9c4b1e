import type { CatalogModel } from '../catalog/model.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import type { TokenOverrun } from '../store/token-overruns.ts';

/** How many tokens of a model one counted token may be. */
export interface TokenFactors {
  of(model: CatalogModel): number;
  /** A prompt of this account would have needed this factor. */
  noteOverrun(model: CatalogModel, accountId: bigint, factor: number): void;
}

export const CATALOG_FACTORS: TokenFactors = { of: ({ tokenFactor }) => tokenFactor.factor, noteOverrun: () => {} };

export type OverrunStore = Pick<Directory, 'noteTokenOverrun' | 'listTokenOverruns'>;

/**
 * The catalog's factors, raised for models whose prompts had more tokens than expected. One caller cannot raise a factor
 * for everyone: it rises to what at least three accounts have needed. Overruns are stored, and read again from time to
 * time, because other processes store theirs too.
 */
export class LearnedFactors implements TokenFactors {
  readonly #store: OverrunStore;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  #raised: ReadonlyMap<string, number> = new Map();
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(store: OverrunStore, clock: Clock, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** A tokenizer that is known needs no factor, and gets none. */
  of({ id, tokenizer, tokenFactor: { factor } }: CatalogModel): number {
    return tokenizer === null ? Math.max(factor, this.#raised.get(id) ?? 0) : factor;
  }

  noteOverrun({ id, tokenizer }: CatalogModel, accountId: bigint, factor: number): void {
    if (tokenizer !== null) return;
    const overrun = {
      model: id,
      accountId,
      factor: Math.min(factor, LIMITS.tokenFactorMax),
      notedMs: this.#clock.nowMs(),
    };
    this.#store.noteTokenOverrun(overrun).then(() => this.read(), this.#onError);
  }

  /** Reads the overruns now and from time to time. A store that is unreachable leaves the factors as they are. */
  async read(): Promise<void> {
    try {
      this.#raised = raisedFactors(await this.#store.listTokenOverruns());
    } catch (error) {
      this.#onError(error);
    }
    this.#timer?.cancel();
    if (this.#isClosed) return;
    this.#timer = this.#clock.after(LIMITS.tokenFactorsReadMs, () => void this.read(), { unref: true });
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }
}

/** For each model with overruns of enough accounts, the factor that at least this number of accounts needed. */
export function raisedFactors(overruns: readonly TokenOverrun[]): Map<string, number> {
  const raised = new Map<string, number>();
  for (const [model, own] of Map.groupBy(overruns, (overrun) => overrun.model)) {
    const factors = own.map(({ factor }) => factor).sort((one, other) => other - one);
    const enough = factors[LIMITS.tokenOverrunAccountsMin - 1];
    if (enough !== undefined) raised.set(model, enough);
  }
  return raised;
}

/** The factor with which a count would have covered the tokens that the host reported. */
export function neededFactor(
  count: { scaledTokens: number; factor: number },
  inputBound: number,
  reported: number,
): number {
  if (reported <= inputBound || count.scaledTokens === 0) return count.factor;
  return (count.factor * (count.scaledTokens + reported - inputBound)) / count.scaledTokens;
}
