import { LIMITS } from '../limits.ts';
import { type MasterSealer, sealedUnder } from './seal.ts';
import type { ReadSealedRows, SealedOwner } from './sealed-rows.ts';

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
  /** Where the next page begins; null if this one is empty, and so the last. */
  readonly next: bigint | null;
}

/**
 * Re-encrypts a page of rows under the first master key. A row is changed only if it is still as it was read, so this may
 * run while keys are stored and used. Finished rows are skipped, so it may be interrupted and started again.
 */
export async function rotatePage(
  read: ReadSealedRows,
  sealer: MasterSealer,
  after: bigint | null,
): Promise<RotationPage> {
  const rows = await read(after, LIMITS.sealRotationRows);
  const counts = { examined: rows.length, rewrapped: 0, upToDate: 0, changedMeanwhile: 0, unreadable: 0 };
  for (const row of rows) {
    const { place } = row;
    const isCurrent = sealedUnder(row.sealed) === sealer.keyId;
    const rewrapped = isCurrent ? null : sealer.rewrap(row.sealed, place);
    if (rewrapped !== null) {
      if (await row.reseal(rewrapped)) counts.rewrapped++;
      else counts.changedMeanwhile++;
    } else if (isCurrent && sealer.open(row.sealed, place) !== null) counts.upToDate++;
    else counts.unreadable++;
  }
  return { ...counts, next: rows.at(-1)?.id ?? null };
}

interface SealStatus {
  readonly rows: number;
  /** Number of rows by the id of their master key, known or unknown; "" for rows of an unknown format. */
  readonly byKey: ReadonlyMap<string, number>;
  readonly unreadableRows: number;
  /** The first few of them. */
  readonly unreadable: readonly SealedOwner[];
}

/** Reads all rows, page by page. */
export async function sealStatus(read: ReadSealedRows, sealer: MasterSealer): Promise<SealStatus> {
  const byKey = new Map<string, number>();
  const unreadable: SealedOwner[] = [];
  let rows = 0;
  let unreadableRows = 0;
  let after: bigint | null = null;
  do {
    const page = await read(after, LIMITS.storePageRowsMax);
    for (const row of page) {
      const keyId = sealedUnder(row.sealed) ?? '';
      byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
      if (sealer.open(row.sealed, row.place) !== null) continue;
      unreadableRows++;
      if (unreadable.length < LIMITS.unreadableKeysTold) unreadable.push(row.owner);
    }
    rows += page.length;
    after = page.at(-1)?.id ?? null;
  } while (after !== null);
  return { rows, byKey, unreadableRows, unreadable };
}
