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
  /** What is in the folder is set aside; without it, only a folder without anything of value is taken. */
  readonly force: boolean;
  readonly clock: Clock;
  progress(done: VerifyProgress): void;
}

/** What a folder may hold and yet be empty: locks, and the keys that backups do not contain. */
const NO_BOOKS = /^(lock\.sqlite(-journal)?|holder\.json(\.new)?|control\.sock|master\.key)$/;
const DRAFT = 'restoring.sqlite';

/** Puts a backup into a folder whose lock the caller has; nothing there changes before the backup has proved itself. */
export function restoreBooks({ file, folder, force, clock, progress }: RestoreTerms): RestoreReport {
  const draft = join(folder, DRAFT);
  const others = readdirSync(folder).filter((name) => !NO_BOOKS.test(name) && name !== DRAFT);
  if (others.length > 0 && !force) {
    throw new BackupRefused(
      `${folder} is not empty (${others.slice(0, 3).join(', ')}). With --force the books in it are kept aside and replaced.`,
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
  if (!existsSync(file)) throw new BackupRefused(`There is no file ${file}.`);
  // Books in use have a log beside them: the file alone is not all of them.
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new BackupRefused(
      `${basename(file)} belongs to books in use: make a backup of them with "tollgate store backup".`,
    );
  }
  rmSync(draft, { force: true });
  copyFileSync(file, draft, constants.COPYFILE_EXCL);
  chmodSync(draft, 0o600);
}

/** Brought up to date, whole, and balancing; or thrown away. */
function prove(draft: string, nowMs: number, progress: (done: VerifyProgress) => void): VerifyReport {
  const database = new DatabaseSync(draft, { readBigInts: true });
  try {
    refuseStranger(database);
    migrate(database);
    const books = verify(new Verification(database, nowMs), progress);
    const [violation] = books.violations;
    if (violation !== undefined) throw new BackupRefused(`The books in it do not balance: ${violation}`);
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
  if (damage !== null) throw new BackupRefused(`The file is damaged, or no backup at all: ${damage}`);
  if (!isOurs) throw new BackupRefused('The file holds no books of Tollgate.');
}

function verify(verification: Verification, progress: (done: VerifyProgress) => void): VerifyReport {
  for (;;) {
    const report = verification.step();
    progress(verification.progress);
    if (report !== null) return report;
  }
}

/** The old books get a folder of their own, from which a server can be started; they keep their place until replaced. */
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

/** A log that stayed behind would be read into the books that come: it is folded into those it belongs to. */
function foldLog(folder: string): void {
  try {
    const database = openToWrite(folder);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  } catch {
    // Books too broken to be opened are kept as they are, log and all.
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
