import { fdatasyncSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { sharedMs } from '../../kit/clock.ts';
import { type CommitGuard, StoreBroken } from './batch.ts';
import { databaseFile } from './database.ts';
import { FileWatch } from './file-watch.ts';
import { LogKeeper } from './log-keeper.ts';
import { MarkFile } from './mark-file.ts';
import { type Progress, readProgress } from './progress.ts';
import type { CommitTimes, WriterMemory } from './writer-memory.ts';

/** Syncs and checkpoints the log, maintains the mark and watches the database file, on behalf of the writer. */
export class LedgerKeeper implements CommitGuard {
  readonly #file: FileWatch;
  readonly #mark: MarkFile;
  readonly #log: LogKeeper;
  readonly #memory: WriterMemory;
  #progress: Progress;

  constructor(database: DatabaseSync, folder: string, memory: WriterMemory, syncFile = fdatasyncSync) {
    this.#memory = memory;
    this.#file = new FileWatch(databaseFile(folder));
    this.#progress = readProgress(database);
    this.#mark = new MarkFile(folder, this.#progress);
    this.#log = new LogKeeper(database, folder, syncFile);
  }

  /** After a commit that failed nothing else is done: readers may see it, and it may never reach the disk. */
  beginning(): void {
    if (this.#memory.isUnsynced) throw new StoreBroken('An earlier commit failed, so nothing more can be stored.');
    this.#noteTime('begunMs');
  }

  /** From here on readers may see the commit. */
  committing(): void {
    this.#memory.isUnsynced = true;
  }

  committedNothing(): void {
    this.#memory.isUnsynced = false;
  }

  /** A commit to a deleted database must not be reported. */
  committed(progress: Progress): void {
    this.#noteTime('writtenMs');
    this.#log.sync();
    this.#noteTime('syncedMs');
    this.refuseIfGone();
    this.#progress = progress;
    this.#mark.write(progress);
    this.#log.committed();
    this.#memory.isUnsynced = false;
    this.#noteTime('endedMs');
  }

  #noteTime(step: keyof CommitTimes): void {
    this.#memory.noteTime(step, sharedMs());
  }

  refuseIfGone(): void {
    this.#file.refuseIfGone();
  }

  /** Called once a second. */
  tick(): void {
    this.refuseIfGone();
    this.#mark.replaceIfDeleted(this.#progress);
    this.#mark.syncInBackground();
    this.#log.tick();
  }

  close(): void {
    this.#mark.close();
    this.#log.close();
  }
}
