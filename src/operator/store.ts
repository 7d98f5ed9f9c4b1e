import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { type BackUp, BackupRefused, type BackupReport, type RestoreReport } from '../store/backup.ts';
import { COPIED_BEFORE, type CopyReport } from '../store/copy.ts';
import type { VerifyProgress } from '../store/store.ts';
import { OperatorError } from './error.ts';
import { type VerifyView, verifyView } from './view.ts';

export type { CopyProgress } from '../store/copy.ts';
export { StoreMisnamed } from '../store/store.ts';

/** What came of copying the books to another engine. */
export interface CopyView {
  readonly object: 'store_copy';
  /** Both sides verify and are the same, row by row; the copy may be used. */
  readonly ok: boolean;
  readonly start: CopyReport['start'];
  /** Rows that an earlier attempt had brought over, and those that this one brought. */
  readonly rows_found: number;
  readonly rows_copied: number;
  readonly accounts: number;
  readonly keys: number;
  readonly receipts: number;
  readonly credits: number;
  readonly balance_nanousd: bigint;
  readonly spent_nanousd: bigint;
  readonly credited_nanousd: bigint;
  /** Rows of the copy. */
  readonly tables: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** There was nothing to copy any more. */
export interface CopiedView {
  readonly object: 'store_copy';
  readonly ok: true;
  readonly start: typeof COPIED_BEFORE;
}

export function copyView(report: CopyReport | typeof COPIED_BEFORE): CopyView | CopiedView {
  if (report === COPIED_BEFORE) return { object: 'store_copy', ok: true, start: COPIED_BEFORE };
  const { target, tables, faults } = report;
  const sumOf = (table: string, column: string): bigint =>
    tables.find((tally) => tally.table === table)?.sums[column] ?? 0n;
  return {
    object: 'store_copy',
    ok: faults.length === 0,
    start: report.start,
    rows_found: report.rowsFound,
    rows_copied: report.rowsCopied,
    accounts: target.accounts,
    keys: target.keys,
    receipts: target.receipts,
    credits: target.credits,
    balance_nanousd: sumOf('balance', 'balance'),
    spent_nanousd: sumOf('balance', 'spent'),
    credited_nanousd: sumOf('credit', 'amount'),
    tables: Object.fromEntries(tables.map(({ table, rows }) => [table, rows])),
    faults,
  };
}

/** A backup, and the books that were found in it. */
export interface BackupView {
  readonly object: 'store_backup';
  readonly file: string;
  readonly bytes: number;
  readonly books: VerifyView;
}

export interface RestoreView {
  readonly object: 'store_restore';
  readonly folder: string;
  /** Where the books before are kept. */
  readonly kept_in: string | null;
  readonly books: VerifyView;
}

export const backupPlace = z.strictObject({
  file: z.string().max(LIMITS.filePathCharsMax).refine(isAbsolute, 'must be an absolute path'),
});

export interface BackupServices {
  /** Null where the books are kept by an engine with ways of its own. */
  readonly backUp: BackUp | null;
}

/** The file is written by who has the books open: the server, where one runs. */
export async function backUpBooks(
  { backUp }: BackupServices,
  { file }: z.output<typeof backupPlace>,
  progress?: (done: VerifyProgress) => void,
): Promise<BackupView> {
  if (backUp === null) {
    const message = 'These books are in PostgreSQL, which has its own ways to back them up, as pg_dump.';
    throw new OperatorError('refused', message, 'see docs/deploy.md');
  }
  try {
    return backupView(await backUp(file, progress));
  } catch (error) {
    if (error instanceof BackupRefused) throw new OperatorError('refused', error.message);
    throw error;
  }
}

function backupView({ file, bytes, books }: BackupReport): BackupView {
  return { object: 'store_backup', file, bytes, books: verifyView(books) };
}

export function restoreView({ folder, keptIn, books }: RestoreReport): RestoreView {
  return { object: 'store_restore', folder, kept_in: keptIn, books: verifyView(books) };
}
