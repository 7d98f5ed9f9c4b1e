import { LIMITS } from '../limits.ts';
import type { JobStore } from '../store/jobs.ts';
import type { Store } from '../store/store.ts';
import { placeOf } from './custody.ts';
import { placeOfChunk } from './job-chunks.ts';
import type { Associated } from './seal.ts';

/** A row whose content is encrypted under a master key. */
interface SealedRow {
  readonly id: bigint;
  readonly sealed: Uint8Array;
  readonly place: Associated;
  readonly owner: SealedOwner;
  /** False, without a change, if the row is gone or was encrypted again meanwhile. */
  reseal(after: Uint8Array): Promise<boolean>;
}

/** What the row belongs to: a provider's key, a webhook, a job, or the signing of receipts. */
export interface SealedOwner {
  /** Null if it belongs to the operator. */
  readonly accountId: bigint | null;
  readonly provider: string | null;
  readonly webhook: string | null;
  readonly jobId?: bigint;
  /** The number of a key that signs receipts. */
  readonly receiptKey?: number;
}

/** Rows ordered by id, after that one; none after the last. A page may be shorter than asked for. */
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

/** The requests and responses of jobs. A page has whole jobs, because its rows have the ids of their jobs. */
export function sealedJobChunks(store: Pick<JobStore, 'chunksAfter' | 'resealChunk'>): ReadSealedRows {
  return async (after) => {
    const first = { jobId: after === null ? 0n : after + 1n, attempt: 0, digest: '', part: 0 };
    const chunks = await store.chunksAfter(first, LIMITS.jobSealRotationChunks);
    let isWhole = chunks.length < LIMITS.jobSealRotationChunks;
    while (!isWhole) {
      const next = await store.chunksAfter(chunks.at(-1)!, LIMITS.jobSealRotationChunks);
      const ofLast = next.filter(({ jobId }) => jobId === chunks.at(-1)!.jobId);
      chunks.push(...ofLast);
      isWhole = ofLast.length < LIMITS.jobSealRotationChunks;
    }
    return chunks.map((chunk) => ({
      id: chunk.jobId,
      sealed: chunk.sealed,
      place: placeOfChunk(chunk),
      owner: { accountId: null, provider: null, webhook: null, jobId: chunk.jobId },
      reseal: (sealed) => store.resealChunk(chunk, chunk.sealed, sealed),
    }));
  };
}

/**
 * The rows of several tables as one list. No two tables have a row with the same id. The page ends with the shortest page
 * of a table: what the table has after that is not known yet.
 */
export function mergedRows(...tables: readonly ReadSealedRows[]): ReadSealedRows {
  return async (after, limit) => {
    const pages = await Promise.all(tables.map((read) => read(after, limit)));
    const ends = pages.flatMap((page) => (page.length === 0 ? [] : [page.at(-1)!.id]));
    const end = ends.reduce((first, id) => (id < first ? id : first), ends[0] ?? 0n);
    return pages
      .flat()
      .filter(({ id }) => id <= end)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  };
}
