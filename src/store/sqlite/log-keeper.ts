import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { databaseFile } from './database.ts';
import { FileWatch } from './file-watch.ts';

/**
 * Keeps the write-ahead log small, because a damaged log loses every commit that is not in the database yet. SQLite itself
 * checkpoints the log whenever it has grown by `LIMITS.storeCheckpointPages`; `tick` does it by time.
 */
export class LogKeeper {
  readonly #database: DatabaseSync;
  readonly #file: FileWatch;
  #commits = 0;
  #isEmpty = false;

  /** The connection must have read something: only then does its log exist. */
  constructor(database: DatabaseSync, folder: string) {
    this.#database = database;
    this.#file = new FileWatch(`${databaseFile(folder)}-wal`);
  }

  committed(): void {
    this.#commits += 1;
    this.#isEmpty = false;
  }

  /** Called once a second. While there are commits the log is reused; when they stop it is emptied. */
  tick(): void {
    if (this.#commits > 0) this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    else if (!this.#isEmpty) this.#empty();
    this.#commits = 0;
    // The commits in a deleted log are in the database by now, but later ones would be lost.
    this.#file.refuseIfGone();
  }

  /** Without waiting for readers: the next tick tries again. */
  #empty(): void {
    this.#database.exec('PRAGMA busy_timeout = 0');
    const row = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    this.#database.exec(`PRAGMA busy_timeout = ${LIMITS.storeBusyMs}`);
    this.#isEmpty = row?.busy === 0n;
  }
}
