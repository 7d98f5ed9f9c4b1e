import type { Receipt } from '../canonical/receipt.ts';
import type { Clock } from '../kit/clock.ts';
import type { HashText } from '../kit/hash-tree.ts';
import type { AuditRow } from './people.ts';
import type { VerifyProgress } from './verify-report.ts';

/** Receipts in files, and how they get there. */
export interface ReceiptArchive {
  /** Writes closed receipts to files, and then deletes them. Throws `ArchiveRefused`. */
  run(terms: ArchiveTerms): Promise<ArchiveReport>;
  /** Reads every file of the archive, and compares the receipts with the trees of their months in the ledger. */
  check(folder: string, progress?: (done: VerifyProgress) => void): Promise<ArchiveCheck>;
  /** Finds a receipt in the configured folder; null if it was not archived. Throws `ArchiveUnreadable`. */
  find(id: bigint, accountId: bigint | null): Promise<Receipt | null>;
  /** The hash that an archived receipt had in the tree of its month; null if it was not archived. Throws `ArchiveUnreadable`. */
  leafOf(id: bigint): Promise<HashText | null>;
}

/** A file that the ledger knows of: a row of `archive_file`. */
export interface ArchiveFile {
  /** Without its ending. */
  readonly name: string;
  readonly monthMs: number;
  /** A month that was archived in several steps has several files. */
  readonly number: number;
  readonly firstId: bigint;
  readonly upTo: bigint;
  readonly receipts: number;
  readonly bytes: number;
  readonly manifestSha256: string;
  readonly archivedMs: number;
}

export interface ArchiveTerms {
  /** Absolute. */
  readonly folder: string;
  /** Archives from the oldest receipt up to the first that was created at this time or later. */
  readonly beforeMs: number;
  readonly clock: Clock;
  /** The row of the audit for a file that was archived. */
  audit(file: ArchiveFile): AuditRow;
  progress?(done: VerifyProgress): void;
  /** Called between two steps, for tests that stop there. */
  reached?(step: ArchiveStep): Promise<void>;
}

/** In the order in which a run reaches them; `block` and `slice` come more than once in a month. */
export const ARCHIVE_STEPS = [
  'block',
  'written',
  'proved',
  'data named',
  'published',
  'noted',
  'slice',
  'forgotten',
] as const;
export type ArchiveStep = (typeof ARCHIVE_STEPS)[number];

export interface ArchiveReport {
  /** The files that were written. */
  readonly files: readonly ArchiveFile[];
  /** Receipts that were deleted, including those of a file of an earlier run. */
  readonly forgotten: number;
}

/** What a check of the whole archive found. */
export interface ArchiveCheck {
  readonly files: number;
  readonly receipts: number;
  /** Receipts of archived months that had been deleted before, without being archived. */
  readonly notArchived: number;
  /** One sentence for each file or month that is wrong. */
  readonly problems: readonly string[];
}

/** The run stopped before it deleted any receipt that is in no file. The reason is one sentence. */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused';
}

/** Another run has not ended, in this process or another one. */
export class ArchiveBusy extends ArchiveRefused {}

/** The receipt was archived, but cannot be shown. The reason is one sentence. */
export class ArchiveUnreadable extends Error {
  override readonly name = 'ArchiveUnreadable';
}
