import type { ArchiveEngine } from '../archive/archive-engine.ts';
import type { Directory } from '../directory.ts';
import { inSlices, type SlicePace } from '../in-slices.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import type { WriterVerbs } from './writer-verbs.ts';

interface SqliteArchiveTerms {
  readonly directory: Directory;
  readonly inThread: boolean;
  readonly scan: Link<ScannerVerbs>['call'];
  readonly writer: Link<WriterVerbs>;
  readonly pace: SlicePace;
  nowMs(): number;
  /** Runs it when neither a verification nor a closing runs. */
  inTurn<Result>(run: () => Promise<Result>): Promise<Result>;
  alone: ArchiveEngine['alone'];
}

/** One run at a time, during which nothing else deletes receipts. */
export class ArchiveTurn {
  #isTaken = false;

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Waits for a closing that may be deleting receipts. Null if another run has not ended. */
  async take<Result>(closing: Promise<unknown>, run: () => Promise<Result>): Promise<Result | null> {
    if (this.#isTaken) return null;
    this.#isTaken = true;
    try {
      await closing;
      return await run();
    } finally {
      this.#isTaken = false;
    }
  }
}

/** The scanner reads and hashes receipts; the writer only deletes them. */
export function sqliteArchive(terms: SqliteArchiveTerms): ArchiveEngine {
  const { directory, inThread, scan, writer, pace, nowMs, inTurn, alone } = terms;
  return {
    directory,
    inThread,
    alone,
    oldestMonth: () => scan('archiveMonth'),
    countBefore: (beforeMs) => scan('archiveCount', beforeMs),
    starts: (monthMs) => scan('archiveStarts', monthMs),
    digest: (monthMs, part) => scan('archiveDigest', monthMs, part),
    slice: (after, upTo, beforeMs, now) => scan('archiveSlice', after, upTo, beforeMs, now),
    forgetUpTo: (id, onSlice) =>
      inTurn(() =>
        inSlices({
          pace,
          prepare: () => scan('nextArchived', id, pace.rowsMax),
          write: async (slice) => {
            const isWritten = await writer.call('deleteSlice', nowMs(), slice);
            if (isWritten) await onSlice(slice.rows);
            return isWritten;
          },
        }),
      ),
  };
}
