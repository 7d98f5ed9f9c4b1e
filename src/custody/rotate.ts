import { LIMITS } from '../limits.ts';
import type { ProviderKeyRow } from '../store/store.ts';
import { type ProviderKeyStore, placeOf } from './custody.ts';
import { type MasterSealer, sealedUnder } from './seal.ts';

/** The result for one page of rows. Every row is counted once. */
export interface RotationPage {
  readonly examined: number;
  readonly rewrapped: number;
  /** Already encrypted under the first master key. */
  readonly upToDate: number;
  /** Replaced or removed by their owner meanwhile. A replacement is under the first key. */
  readonly changedMeanwhile: number;
  /** Left unchanged: no known master key decrypts them. */
  readonly unreadable: number;
  /** Where the next page begins; null after the last. */
  readonly next: bigint | null;
}

/**
 * Re-encrypts a page of rows under the first master key. A row is changed only if it is still as it was read, so this may
 * run while keys are stored and used. Finished rows are skipped, so it may be interrupted and started again.
 */
export async function rotatePage(
  store: Pick<ProviderKeyStore, 'providerKeysAfter' | 'resealProviderKey'>,
  sealer: MasterSealer,
  after: bigint | null,
): Promise<RotationPage> {
  const rows = await store.providerKeysAfter(after, LIMITS.sealRotationRows);
  const counts = { examined: rows.length, rewrapped: 0, upToDate: 0, changedMeanwhile: 0, unreadable: 0 };
  for (const row of rows) {
    const place = placeOf(row);
    const isCurrent = sealedUnder(row.sealed) === sealer.keyId;
    const rewrapped = isCurrent ? null : sealer.rewrap(row.sealed, place);
    if (rewrapped !== null) {
      if (await store.resealProviderKey(row.id, row.sealed, rewrapped)) counts.rewrapped++;
      else counts.changedMeanwhile++;
    } else if (isCurrent && sealer.open(row.sealed, place) !== null) counts.upToDate++;
    else counts.unreadable++;
  }
  return { ...counts, next: rows.length < LIMITS.sealRotationRows ? null : rows.at(-1)!.id };
}

/** The owner of a key that cannot be decrypted. */
export type UnreadableKey = Pick<ProviderKeyRow, 'accountId' | 'provider'>;

export interface SealStatus {
  readonly rows: number;
  /** Number of rows by the id of their master key, known or unknown; "" for rows of an unknown format. */
  readonly byKey: ReadonlyMap<string, number>;
  readonly unreadableRows: number;
  /** The first few of them. */
  readonly unreadable: readonly UnreadableKey[];
}

/** Reads all rows, page by page. */
export async function sealStatus(
  store: Pick<ProviderKeyStore, 'providerKeysAfter'>,
  sealer: MasterSealer,
): Promise<SealStatus> {
  const byKey = new Map<string, number>();
  const unreadable: UnreadableKey[] = [];
  let rows = 0;
  let unreadableRows = 0;
  let after: bigint | null = null;
  do {
    const page = await store.providerKeysAfter(after, LIMITS.storePageRowsMax);
    for (const row of page) {
      const keyId = sealedUnder(row.sealed) ?? '';
      byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
      if (sealer.open(row.sealed, placeOf(row)) !== null) continue;
      unreadableRows++;
      if (unreadable.length < LIMITS.unreadableKeysTold) unreadable.push(row);
    }
    rows += page.length;
    after = page.length < LIMITS.storePageRowsMax ? null : page.at(-1)!.id;
  } while (after !== null);
  return { rows, byKey, unreadableRows, unreadable };
}
