import { type Stats, statSync } from 'node:fs';
import { StoreBroken } from './batch.ts';

/** A file of the database was deleted or replaced while it was open, so that a restart would not find later commits. */
export class DatabaseVanished extends StoreBroken {}

const QUIETLY = { throwIfNoEntry: false } as const;

/** Notices that a path no longer leads to the file that was opened by it. */
export class FileWatch {
  readonly #path: string;
  readonly #opened: Stats;

  constructor(path: string) {
    this.#path = path;
    this.#opened = statSync(path);
  }

  refuseIfGone(): void {
    const why = this.#whyGone();
    if (why !== null)
      throw new DatabaseVanished(
        `${this.#path} ${why} while the gateway was using it; put the data folder back and restart.`,
      );
  }

  #whyGone(): string | null {
    let found: Stats | undefined;
    try {
      found = statSync(this.#path, QUIETLY);
    } catch (error) {
      return `became unreadable (${(error as NodeJS.ErrnoException).code})`;
    }
    if (found === undefined) return 'was deleted or moved away';
    return found.ino === this.#opened.ino && found.dev === this.#opened.dev ? null : 'was replaced by another file';
  }
}
