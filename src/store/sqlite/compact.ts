import { statfsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { BackupRefused } from '../backup.ts';
import type { CompactReport } from '../compact.ts';
import type { VerifyProgress } from '../store.ts';
import { createFile, databaseFile, openToWrite } from './database.ts';
import { checkMark } from './lost-commits.ts';
import { readProgress } from './progress.ts';
import { proveDatabase } from './prove-database.ts';
import { draftPath, finishReplacement, removeDraft, removeUnlessBegun, replaceLedger } from './replace-ledger.ts';

interface CompactTerms {
  readonly folder: string;
  readonly clock: Clock;
  progress(done: VerifyProgress): void;
}

/**
 * Writes the ledger of a folder, whose lock the caller has, into a new file without the space of deleted rows, verifies
 * it, and puts it in the place of the old one. Killed at any point, the next start has the old file or the new one.
 */
export function compactLedger({ folder, clock, progress }: CompactTerms): CompactReport {
  finishReplacement(folder);
  checkMark(folder);
  removeDraft(folder);
  const bytesBefore = bytesOf(databaseFile(folder)) + bytesOf(`${databaseFile(folder)}-wal`);
  try {
    copyRows(folder);
    let generation = 0n;
    proveDatabase({
      file: draftPath(folder),
      nowMs: clock.nowMs(),
      progress,
      finish: (database) => {
        // It has every commit of the old file, so what was signed stays true, and jobs have not run elsewhere.
        generation = readProgress(database).generation;
      },
    });
    replaceLedger(folder, generation, null);
    return { bytesBefore, bytesAfter: bytesOf(databaseFile(folder)) };
  } catch (error) {
    removeUnlessBegun(folder);
    throw error;
  }
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function copyRows(folder: string): void {
  const database = openToWrite(folder);
  try {
    refuseWithoutSpace(folder, database);
    createFile(draftPath(folder));
    database.prepare('VACUUM INTO ?').run(draftPath(folder));
  } finally {
    // The last connection moves the log into the database.
    database.close();
  }
}

/** The old file stays until the new one was verified. */
function refuseWithoutSpace(folder: string, database: DatabaseSync): void {
  const number = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const needed = (number('page_count') - number('freelist_count')) * number('page_size');
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= needed + LIMITS.diskFreeBytesMin) return;
  throw new BackupRefused(`Not enough disk space in ${folder}: compacting needs ${needed} bytes and a reserve.`);
}
