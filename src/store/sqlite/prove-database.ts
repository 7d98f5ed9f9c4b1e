import { DatabaseSync } from 'node:sqlite';
import { BackupRefused } from '../backup.ts';
import { StoreRefused, type VerifyProgress, type VerifyReport } from '../store.ts';
import { whyDamaged } from './backup-verbs.ts';
import { migrate } from './migrate.ts';
import { Verification } from './verification.ts';

export interface ProofTerms {
  readonly file: string;
  readonly nowMs: number;
  progress(done: VerifyProgress): void;
  /** Makes the last change to the file, after it was verified. */
  finish(database: DatabaseSync): void;
}

/** Brings the file up to date and checks every page and every sum of it; throws `BackupRefused` if it cannot be a ledger. */
export function proveDatabase({ file, nowMs, progress, finish }: ProofTerms): VerifyReport {
  const database = new DatabaseSync(file, { readBigInts: true });
  try {
    refuseStranger(database);
    migrate(database);
    const books = verify(new Verification(database, nowMs), progress);
    const [violation] = books.violations;
    if (violation !== undefined) throw new BackupRefused(`The ledger in the file is inconsistent: ${violation}`);
    finish(database);
    return books;
  } catch (error) {
    if (error instanceof StoreRefused) throw new BackupRefused(error.message);
    throw error;
  } finally {
    database.close();
  }
}

function refuseStranger(database: DatabaseSync): void {
  let damage: string | null;
  let isOurs = false;
  try {
    damage = whyDamaged(database);
    isOurs = database.prepare("SELECT 1 FROM sqlite_schema WHERE name IN ('meta', 'call')").all().length === 2;
  } catch (error) {
    damage = error instanceof Error ? error.message : String(error);
  }
  if (damage !== null) throw new BackupRefused(`The file is damaged or is not a backup: ${damage}`);
  if (!isOurs) throw new BackupRefused('The file is not a Tollgate ledger.');
}

function verify(verification: Verification, progress: (done: VerifyProgress) => void): VerifyReport {
  for (;;) {
    const report = verification.step();
    progress(verification.progress);
    if (report !== null) return report;
  }
}
