import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kit/clock.ts';
import { BackupRefused, type RestoreReport } from '../backup.ts';
import { StoreRefused, type VerifyProgress, type VerifyReport } from '../store.ts';
import { syncPath } from './backup.ts';
import { whyDamaged } from './backup-verbs.ts';
import { databaseFile, openToWrite } from './database.ts';
import { migrate } from './migrate.ts';
import { Verification } from './verification.ts';

export interface RestoreTerms {
  readonly file: string;
  readonly folder: string;
  /** Moves existing data aside; without it, the folder must be empty. */
  readonly force: boolean;
  readonly clock: Clock;
  progress(done: VerifyProgress): void;
}

/** Files that a folder may contain and still count as empty: locks, and the keys that backups do not contain. */
const NO_BOOKS = /^(lock\.sqlite(-journal)?|holder\.json(\.new)?|control\.sock|master\.key)$/;
const DRAFT = 'restoring.sqlite';

/**
 * Restores a backup into a folder whose lock the caller holds. Nothing changes there before the backup was verified.
 */
export function restoreBooks({ file, folder, force, clock, progress }: RestoreTerms): RestoreReport {
  const draft = join(folder, DRAFT);
  const others = readdirSync(folder).filter((name) => !NO_BOOKS.test(name) && name !== DRAFT);
  if (others.length > 0 && !force) {
    throw new BackupRefused(
      `${folder} is not empty (${others.slice(0, 3).join(', ')}). Use --force to move its ledger aside and replace it.`,
    );
  }
  takeFile(file, draft);
  try {
    const books = prove(draft, clock.nowMs(), progress);
    const keptIn = existsSync(databaseFile(folder)) ? keepAside(folder, clock.nowMs()) : null;
    renameSync(draft, databaseFile(folder));
    syncPath(folder);
    return { folder, keptIn, books };
  } finally {
    for (const part of [draft, `${draft}-journal`]) rmSync(part, { force: true });
  }
}

function takeFile(file: string, draft: string): void {
  if (!existsSync(file)) throw new BackupRefused(`The file ${file} does not exist.`);
  // A database in use has a log beside it, so the file alone is incomplete.
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new BackupRefused(
      `${basename(file)} is a database in use. Make a backup of it with "tollgate store backup".`,
    );
  }
  rmSync(draft, { force: true });
  copyFileSync(file, draft, constants.COPYFILE_EXCL);
  chmodSync(draft, 0o600);
}

/** Migrates and verifies the draft, or deletes it. */
function prove(draft: string, nowMs: number, progress: (done: VerifyProgress) => void): VerifyReport {
  const database = new DatabaseSync(draft, { readBigInts: true });
  try {
    refuseStranger(database);
    migrate(database);
    const books = verify(new Verification(database, nowMs), progress);
    const [violation] = books.violations;
    if (violation !== undefined) throw new BackupRefused(`The ledger in the file is inconsistent: ${violation}`);
    return books;
  } catch (error) {
    if (error instanceof StoreRefused) throw new BackupRefused(error.message);
    throw error;
  } finally {
    database.close();
    syncPath(draft);
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

/**
 * The previous ledger gets a folder of its own, from which a server can be started; it stays in place until it is
 * replaced.
 */
function keepAside(folder: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/[:.]/g, '-');
  const aside = join(folder, `before-restore-${stamp}`);
  const file = databaseFile(folder);
  foldLog(folder);
  mkdirSync(aside, { mode: 0o700 });
  linkOrCopy(file, databaseFile(aside));
  for (const side of ['-wal', '-shm']) {
    if (existsSync(file + side)) renameSync(file + side, databaseFile(aside) + side);
  }
  syncPath(aside);
  return aside;
}

/** Folds the write-ahead log into its own database: a leftover log would be applied to the restored one. */
function foldLog(folder: string): void {
  try {
    const database = openToWrite(folder);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  } catch {
    // A database that cannot be opened is kept as it is, with its log.
  }
}

function linkOrCopy(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch {
    copyFileSync(file, to, constants.COPYFILE_EXCL);
    syncPath(to);
  }
}
