import { DatabaseSync } from 'node:sqlite';
import { BackupRefused } from '../backup.ts';
import { UsageCheck } from '../programs/usage-check.ts';
import { StoreRefused, type VerifyProgress, type VerifyReport } from '../store.ts';
import { whyDamaged } from './backup-verbs.ts';
import { runProgram } from './directory.ts';
import { migrate } from './migrate.ts';
import { Verification, withViolations } from './verification.ts';

interface ProofTerms {
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
    const books = verify(database, nowMs, progress);
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

/** Receipts that are closed are read twice, the second time for the usage sums. */
function verify(database: DatabaseSync, nowMs: number, progress: ProofTerms['progress']): VerifyReport {
  const verification = new Verification(database, nowMs);
  const rowsTotal = verification.size.rows + verification.size.closedRows * 2;
  const tell = (rowsRead: number): void => progress({ rowsRead, rowsTotal: Math.max(rowsTotal, rowsRead) });
  let report: VerifyReport | null = null;
  while (report === null) {
    report = verification.step();
    tell(verification.rowsRead);
  }
  return withViolations(
    report,
    compareUsage(database, (read) => tell(verification.rowsRead + read)),
  );
}

function compareUsage(database: DatabaseSync, tell: (rowsRead: number) => void): string[] {
  const violations: string[] = [];
  const check = new UsageCheck(null, (sentence) => violations.push(sentence));
  let rowsRead = 0;
  for (;;) {
    const read = runProgram(database, check.step());
    if (read === null) return violations;
    rowsRead += read;
    tell(rowsRead);
  }
}
