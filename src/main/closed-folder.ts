import type { Refused } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { BackupRefused } from '../store/backup.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { whyMoved } from '../store/sqlite/moved-ledger.ts';
import { FolderHeld } from './books.ts';

/** Runs work on a data folder that no process has open, under its lock; a folder in use or moved away is refused. */
export function onClosedFolder<Result>(folder: string, clock: Clock, work: () => Result): Result | Refused {
  const holder = { pid: process.pid, url: null, socketPath: null, startedMs: clock.nowMs() };
  const lock = lockFolder(folder, holder);
  if ('heldBy' in lock) return { refused: new FolderHeld(folder, lock.heldBy).message, unreachable: true };
  try {
    const moved = whyMoved(folder);
    return moved === null ? work() : { refused: moved };
  } catch (error) {
    if (error instanceof BackupRefused) return { refused: error.message };
    throw error;
  } finally {
    lock.release();
  }
}
