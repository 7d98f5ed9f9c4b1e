import type { Receipt } from '../../canonical/receipt.ts';
import { ArchiveUnreadable, type ReceiptArchive } from '../receipt-archive.ts';
import type { ArchiveEngine } from './archive-engine.ts';
import { ArchiveFinder } from './find-archived.ts';

/** `folder`: where receipts are looked for; null: nowhere. */
export function openArchive(engine: ArchiveEngine, folder: string | null): ReceiptArchive {
  const finder = new ArchiveFinder(engine.directory, folder);
  return {
    // Loaded on demand, because a start that does not archive is faster without it.
    run: async (terms) => (await import('./archive-receipts.ts')).archiveReceipts(engine, terms),
    check: async (place, progress) => (await import('./check-archive.ts')).checkArchive(engine, place, progress),
    find: (id, accountId) => finder.find(id, accountId),
    leafOf: (id) => finder.leafOf(id),
  };
}

/** For a lookup by a caller: what cannot be read is not found. */
export async function findArchived(
  archive: ReceiptArchive,
  id: bigint,
  accountId: bigint | null,
): Promise<Receipt | null> {
  try {
    return await archive.find(id, accountId);
  } catch (error) {
    if (error instanceof ArchiveUnreadable) return null;
    throw error;
  }
}
