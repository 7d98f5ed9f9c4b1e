import type { VerifyProgress, VerifyReport } from './store.ts';

/** One file that holds the books as they were at one moment. */
export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  /** The books recomputed from that very file. */
  readonly books: VerifyReport;
}

export interface RestoreReport {
  readonly folder: string;
  /** Where the books that were there before are kept; null where there were none. */
  readonly keptIn: string | null;
  readonly books: VerifyReport;
}

/** Makes such a file while the books are in use. */
export type BackUp = (file: string, progress?: (done: VerifyProgress) => void) => Promise<BackupReport>;

/** Nothing was written or replaced, for this reason. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}
