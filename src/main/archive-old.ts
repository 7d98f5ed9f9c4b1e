import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { auditOf } from '../operator/archive.ts';
import { ArchiveBusy } from '../store/receipt-archive.ts';
import { startOfMonthMs } from '../store/windows.ts';
import type { Books } from './books.ts';

interface ArchiveOldTerms extends Pick<Books, 'store' | 'ids'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly folder: string;
  readonly keptSinceMs: number;
}

/** The audit names the setting as the actor. */
const ACTOR = { kind: 'configuration', id: null, name: 'retention', address: null } as const;

/** Archives whole months, so that there is one file for each of them. */
export async function archiveOld({ store, ids, clock, log, folder, keptSinceMs }: ArchiveOldTerms): Promise<void> {
  const services = { actor: ACTOR, clock, ids };
  try {
    const { files, forgotten } = await store.archive.run({
      folder,
      beforeMs: startOfMonthMs(keptSinceMs),
      clock,
      audit: (file) => auditOf(services, file),
    });
    const names = files.map(({ name }) => name);
    log[forgotten > 0 ? 'info' : 'debug']({ files: names, archived: forgotten }, 'Old receipts archived.');
  } catch (error) {
    // Another process of the same store does it.
    if (!(error instanceof ArchiveBusy)) throw error;
  }
}
