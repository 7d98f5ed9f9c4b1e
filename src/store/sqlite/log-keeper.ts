import { closeSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { StoreBroken } from './batch.ts';
import { databaseFile } from './database.ts';
import { describeFault } from './faults.ts';
import { FileWatch } from './file-watch.ts';

/**
 * Syncs the write-ahead log after each commit. SQLite would do it with fsync, which also writes the time of the file's last
 * change, for about twice the time (docs/decisions/0066).
 *
 * Keeps the log small, because a damaged log loses every commit that is not in the database yet. SQLite itself
 * checkpoints the log whenever it has grown by `LIMITS.storeCheckpointPages`; `tick` does it by time.
 */
export class LogKeeper {
  readonly #database: DatabaseSync;
  readonly #file: FileWatch;
  readonly #syncFile: (descriptor: number) => void;
  readonly #descriptor: number;
  #commits = 0;
  #isMoved = false;
  #isEmpty = false;
  #idleTicks = 0;

  /** The connection must have read something: only then does its log exist. */
  constructor(database: DatabaseSync, folder: string, syncFile: (descriptor: number) => void) {
    this.#database = database;
    this.#syncFile = syncFile;
    const path = `${databaseFile(folder)}-wal`;
    this.#file = new FileWatch(path);
    this.#descriptor = openSync(path, 'r+');
    database.exec('PRAGMA synchronous = NORMAL');
  }

  /** The commits so far are on disk when this returns. */
  sync(): void {
    try {
      this.#syncFile(this.#descriptor);
    } catch (error) {
      throw new StoreBroken(`A commit was not synced: ${describeFault(error) ?? error}`, { cause: error });
    }
  }

  committed(): void {
    this.#commits += 1;
    this.#isMoved = false;
    this.#isEmpty = false;
  }

  /**
   * Called once a second. After a second with commits they are moved into the database, and the next commit overwrites the
   * log: that is synced sooner than a file that grows. When no commit has come for a while, the log is emptied.
   */
  tick(): void {
    this.#idleTicks = this.#commits > 0 ? 0 : this.#idleTicks + 1;
    this.#commits = 0;
    if (!this.#isMoved) this.#isMoved = this.#move();
    else if (this.#idleTicks >= LIMITS.storeLogIdleTicks && !this.#isEmpty) this.#empty();
    // The commits in a deleted log are in the database by now, but later ones would be lost.
    this.#file.refuseIfGone();
  }

  /** Whether the database has all commits now: a long read can keep some in the log. */
  #move(): boolean {
    const row = this.#database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    return row?.log === row?.checkpointed;
  }

  /** Without waiting for readers: the next tick tries again. */
  #empty(): void {
    this.#database.exec('PRAGMA busy_timeout = 0');
    const row = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    this.#database.exec(`PRAGMA busy_timeout = ${LIMITS.storeBusyMs}`);
    this.#isEmpty = row?.busy === 0n;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
