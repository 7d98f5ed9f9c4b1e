import type { Refused } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { BackupRefused } from '../store/backup.ts';
import { type FolderLock, lockFolder } from '../store/sqlite/lock.ts';
import { whyMoved } from '../store/sqlite/moved-ledger.ts';
import { FolderInUse } from './books.ts';

/** Keeps other processes out of a data folder that none has open; one that is in use is refused. */
export function lockClosedFolder(folder: string, clock: Clock): FolderLock | Refused {
  const lock = lockFolder(folder, { pid: process.pid, url: null, socketPath: null, startedMs: clock.nowMs() });
  return 'heldBy' in lock ? { refused: new FolderInUse(folder, lock.heldBy).message, unreachable: true } : lock;
}

/** Runs work on a data folder that no process has open, under its lock; a folder in use or moved away is refused. */
export function onClosedFolder<Result>(folder: string, clock: Clock, work: () => Result): Result | Refused {
  const lock = lockClosedFolder(folder, clock);
  if ('refused' in lock) return lock;
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
