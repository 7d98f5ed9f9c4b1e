import type { Store } from '../store/store.ts';
import { placeOf } from './custody.ts';
import type { Associated } from './seal.ts';

/** A row whose content is encrypted under a master key. */
export interface SealedRow {
  readonly id: bigint;
  readonly sealed: Uint8Array;
  readonly place: Associated;
  readonly owner: SealedOwner;
  /** False, without a change, if the row is gone or was encrypted again meanwhile. */
  reseal(after: Uint8Array): Promise<boolean>;
}

/** What the row belongs to: a provider's key, or a webhook. */
export interface SealedOwner {
  /** Null for the operator's. */
  readonly accountId: bigint | null;
  readonly provider: string | null;
  readonly webhook: string | null;
}

/** Rows ordered by id, after that one. */
export type ReadSealedRows = (after: bigint | null, limit: number) => Promise<readonly SealedRow[]>;

export function sealedProviderKeys(store: Pick<Store, 'providerKeysAfter' | 'resealProviderKey'>): ReadSealedRows {
  return async (after, limit) =>
    (await store.providerKeysAfter(after, limit)).map((row) => ({
      id: row.id,
      sealed: row.sealed,
      place: placeOf(row),
      owner: { accountId: row.accountId, provider: row.provider, webhook: null },
      reseal: (sealed) => store.resealProviderKey(row.id, row.sealed, sealed),
    }));
}

/** The rows of several tables as one list. No two tables have a row with the same id. */
export function mergedRows(...tables: readonly ReadSealedRows[]): ReadSealedRows {
  return async (after, limit) => {
    const pages = await Promise.all(tables.map((read) => read(after, limit)));
    return pages
      .flat()
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  };
}
