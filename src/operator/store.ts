import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import {
  type AcceptLossReport,
  type BackUp,
  BackupRefused,
  type BackupReport,
  type RestoreReport,
} from '../store/backup.ts';
import type { CompactReport } from '../store/compact.ts';
import { COPIED_BEFORE, type CopyReport } from '../store/copy.ts';
import type { VerifyProgress } from '../store/store.ts';
import { OperatorError } from './error.ts';
import { type VerifyView, verifyView } from './view.ts';

export type { CopyProgress } from '../store/copy.ts';

/** The result of copying a ledger to another engine. */
export interface CopyView {
  readonly object: 'store_copy';
  /** Both sides verify and are equal row by row, so the copy may be used. */
  readonly ok: boolean;
  readonly start: CopyReport['start'];
  /** Rows that an earlier attempt had copied, and rows that this one copied. */
  readonly rows_found: number;
  readonly rows_copied: number;
  readonly accounts: number;
  readonly keys: number;
  readonly receipts: number;
  readonly credits: number;
  readonly balance_nanousd: bigint;
  readonly spent_nanousd: bigint;
  readonly credited_nanousd: bigint;
  /** Rows of the copy, by table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** The ledger had been copied before and has not changed since. */
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

/** A backup, and the verification of the ledger in it. */
export interface BackupView {
  readonly object: 'store_backup';
  readonly file: string;
  readonly bytes: number;
  readonly books: VerifyView;
}

export interface RestoreView {
  readonly object: 'store_restore';
  readonly folder: string;
  /** Where the previous ledger is kept. */
  readonly kept_in: string | null;
  readonly books: VerifyView;
}

/** What a ledger continues without. */
export interface AcceptLossView {
  readonly object: 'store_accept_loss';
  readonly folder: string;
  /** Where the damaged files are kept. */
  readonly kept_in: string | null;
  readonly receipts: number;
  readonly spent_nanousd: bigint;
}

/** How much space a ledger takes. */
export interface CompactView {
  readonly object: 'store_compact';
  readonly engine: 'sqlite' | 'postgres';
  readonly bytes_before: number;
  readonly bytes_after: number;
}

export function compactView(engine: CompactView['engine'], { bytesBefore, bytesAfter }: CompactReport): CompactView {
  return { object: 'store_compact', engine, bytes_before: bytesBefore, bytes_after: bytesAfter };
}

export const backupPlace = z.strictObject({
  file: z.string().max(LIMITS.filePathCharsMax).refine(isAbsolute, 'must be an absolute path'),
});

export interface BackupServices {
  /** Null for an engine with its own backup tools. */
  readonly backUp: BackUp | null;
}

/** The process that has the store open writes the file: the server, if one runs. */
export async function backUpBooks(
  { backUp }: BackupServices,
  { file }: z.output<typeof backupPlace>,
  progress?: (done: VerifyProgress) => void,
): Promise<BackupView> {
  if (backUp === null) {
    const message = 'This ledger is in PostgreSQL. Back it up with PostgreSQL tools, like pg_dump.';
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

export function acceptLossView({ folder, keptIn, receipts, spentNanousd }: AcceptLossReport): AcceptLossView {
  return {
    object: 'store_accept_loss',
    folder,
    kept_in: keptIn,
    receipts: Number(receipts),
    spent_nanousd: spentNanousd,
  };
}
