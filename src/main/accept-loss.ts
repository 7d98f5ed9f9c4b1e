import type { AcceptLossTerms, Refused } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { type AcceptLossView, acceptLossView } from '../operator/store.ts';
import { BackupRefused } from '../store/backup.ts';
import { acceptLoss } from '../store/sqlite/accept-loss.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { whyMoved } from '../store/sqlite/moved.ts';
import { FolderHeld } from './books.ts';

/** Lets a folder that no process has open go on without the commits that it has lost. */
export async function acceptStoreLoss(terms: AcceptLossTerms, clock: Clock): Promise<AcceptLossView | Refused> {
  const { folder } = terms;
  const holder = { pid: process.pid, url: null, socketPath: null, startedMs: clock.nowMs() };
  const lock = lockFolder(folder, holder);
  if ('heldBy' in lock) return { refused: new FolderHeld(folder, lock.heldBy).message, unreachable: true };
  try {
    const moved = whyMoved(folder);
    if (moved !== null) return { refused: moved };
    return acceptLossView(acceptLoss({ ...terms, clock }));
  } catch (error) {
    if (error instanceof BackupRefused) return { refused: error.message };
    throw error;
  } finally {
    lock.release();
  }
}
