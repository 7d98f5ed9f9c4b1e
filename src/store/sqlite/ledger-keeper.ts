import type { DatabaseSync } from 'node:sqlite';
import { databaseFile } from './database.ts';
import { FileWatch } from './file-watch.ts';
import { LogKeeper } from './log-keeper.ts';
import { MarkFile } from './mark-file.ts';
import { type Progress, readProgress } from './progress.ts';

/** Maintains the mark, watches the database file and checkpoints the log, on behalf of the writer. */
export class LedgerKeeper {
  readonly #file: FileWatch;
  readonly #mark: MarkFile;
  readonly #log: LogKeeper;
  #progress: Progress;

  constructor(database: DatabaseSync, folder: string) {
    this.#file = new FileWatch(databaseFile(folder));
    this.#progress = readProgress(database);
    this.#mark = new MarkFile(folder, this.#progress);
    this.#log = new LogKeeper(database, folder);
  }

  /** Called between a commit and its outcomes. A commit to a deleted database must not be reported. */
  committed(progress: Progress): void {
    this.refuseIfGone();
    this.#progress = progress;
    this.#mark.write(progress);
    this.#log.committed();
  }

  refuseIfGone(): void {
    this.#file.refuseIfGone();
  }

  /** Called once a second. */
  tick(): void {
    this.refuseIfGone();
    this.#mark.replaceIfDeleted(this.#progress);
    this.#mark.sync();
    this.#log.tick();
  }

  close(): void {
    this.#mark.close();
  }
}
