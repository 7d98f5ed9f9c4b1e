import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { databaseFile } from './database.ts';
import { FileWatch } from './file-watch.ts';

/**
 * Keeps the write-ahead log small, because a damaged log loses every commit that is only in it. SQLite itself moves the log
 * into the database whenever it has grown by `LIMITS.storeCheckpointPages`; `tick` does it by time.
 */
export class LogKeeper {
  readonly #database: DatabaseSync;
  readonly #path: string;
  #watch: FileWatch | null = null;
  #commits = 0;
  #isEmpty = false;

  constructor(database: DatabaseSync, folder: string) {
    this.#database = database;
    this.#path = `${databaseFile(folder)}-wal`;
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
    this.#refuseIfGone();
  }

  /** Without waiting for readers: the next tick tries again. */
  #empty(): void {
    this.#database.exec('PRAGMA busy_timeout = 0');
    const row = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    this.#database.exec(`PRAGMA busy_timeout = ${LIMITS.storeBusyMs}`);
    this.#isEmpty = row?.busy === 0n;
  }

  /** Everything in a deleted log has just been moved into the database, and nothing may follow. */
  #refuseIfGone(): void {
    if (this.#watch !== null) this.#watch.refuseIfGone();
    else if (existsSync(this.#path)) this.#watch = new FileWatch(this.#path);
  }
}
