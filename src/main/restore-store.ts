import type { Refused, RestoreTerms } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { type RestoreView, restoreView } from '../operator/store.ts';
import { BackupRefused } from '../store/backup.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { whyMoved } from '../store/sqlite/moved.ts';
import { restoreBooks } from '../store/sqlite/restore.ts';
import { FolderHeld } from './books.ts';

/** Restores a backup into a folder that no process has open. */
export async function restoreStore(terms: RestoreTerms, clock: Clock): Promise<RestoreView | Refused> {
  const { folder } = terms;
  const holder = { pid: process.pid, url: null, socketPath: null, startedMs: clock.nowMs() };
  const lock = lockFolder(folder, holder);
  if ('heldBy' in lock) return { refused: new FolderHeld(folder, lock.heldBy).message, unreachable: true };
  try {
    const moved = whyMoved(folder);
    if (moved !== null) return { refused: moved };
    return restoreView(restoreBooks({ ...terms, clock }));
  } catch (error) {
    if (error instanceof BackupRefused) return { refused: error.message };
    throw error;
  } finally {
    lock.release();
  }
}
