import type { VerifyProgress, VerifyReport } from './store.ts';

/** A single file that contains the ledger as of one moment. */
export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  /** The result of verifying that file. */
  readonly books: VerifyReport;
}

export interface RestoreReport {
  readonly folder: string;
  /** Where the previous data was moved; null if there was none. */
  readonly keptIn: string | null;
  readonly books: VerifyReport;
}

/** The loss that an operator has accepted. */
export interface AcceptLossReport {
  readonly folder: string;
  /** Where the damaged files are kept; null where there were none. */
  readonly keptIn: string | null;
  readonly receipts: bigint;
  readonly spentNanousd: bigint;
}

/** Writes a backup while the ledger is in use. */
export type BackUp = (file: string, progress?: (done: VerifyProgress) => void) => Promise<BackupReport>;

/** The backup or restore was refused for this reason, and nothing was changed. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}
