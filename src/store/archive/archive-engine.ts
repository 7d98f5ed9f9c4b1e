import type { Directory } from '../directory.ts';
import type { MonthPart } from '../month-tree.ts';
import type { ArchiveMonth, ArchiveSlice } from '../programs/archive-reader.ts';

/** What an engine does for the archive. */
export interface ArchiveEngine {
  readonly directory: Pick<Directory, 'listArchiveFiles' | 'archiveFileOf' | 'noteArchiveFile'>;
  /** Whether files are read in a thread of their own; a command has nothing else to do. */
  readonly inThread: boolean;
  oldestMonth(): Promise<ArchiveMonth | null>;
  countBefore(beforeMs: number): Promise<number>;
  starts(monthMs: number): Promise<string[]>;
  slice(after: bigint, upTo: bigint, beforeMs: number, nowMs: number): Promise<ArchiveSlice | null>;
  digest(monthMs: number, part: MonthPart): Promise<string>;
  /** Deletes closed receipts up to this id, slice by slice. */
  forgetUpTo(id: bigint, onSlice: (receipts: number) => Promise<void>): Promise<number>;
  /** Runs it while nothing else deletes receipts. Null if another run has not ended, in this process or another one. */
  alone<Result>(run: () => Promise<Result>): Promise<Result | null>;
}
