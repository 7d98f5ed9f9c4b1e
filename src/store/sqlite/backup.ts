import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { BackupRefused, type BackupReport } from '../backup.ts';
import type { VerifyProgress, VerifyReport } from '../store.ts';
import type { BackupVerbs } from './backup-verbs.ts';
import { databaseFile } from './database.ts';
import { Thread } from './thread.ts';

export interface BackupTerms {
  readonly folder: string;
  /** An absolute path where nothing stands yet. */
  readonly file: string;
  readonly clock: Clock;
  progress?(done: VerifyProgress): void;
}

/**
 * The books as they are now, in one file: every receipt that was durable before is in it, and its books balance. It has
 * its name only when it was read back, verified and is on the disk.
 */
export async function backUp({ folder, file, clock, progress }: BackupTerms): Promise<BackupReport> {
  if (existsSync(file)) throw new BackupRefused(`There is a file ${file} already: choose another name.`);
  const draft = `${file}.${randomBytes(4).toString('hex')}.part`;
  createDraft(draft, folder);
  const thread = new Thread<BackupVerbs>('backup-worker', null, () => undefined);
  try {
    await thread.call('copy', folder, draft);
    const damage = await thread.call('open', draft, clock.nowMs());
    if (damage !== null) throw new BackupRefused(`The copy is damaged, and was thrown away: ${damage}`);
    const books = await verified(thread, progress);
    await thread.end();
    syncPath(draft);
    renameSync(draft, file);
    syncPath(dirname(file));
    return { file, bytes: statSync(file).size, books };
  } finally {
    await thread.end();
    rmSync(draft, { force: true });
  }
}

async function verified(
  thread: Thread<BackupVerbs>,
  progress: BackupTerms['progress'] = () => undefined,
): Promise<VerifyReport> {
  for (;;) {
    const step = await thread.call('step');
    progress(step.progress);
    if (step.report !== null) return step.report;
  }
}

/** For the owner alone, as the books are; and not so large that calls would be refused for want of room. */
function createDraft(draft: string, folder: string): void {
  try {
    const { bavail, bsize } = statfsSync(dirname(draft));
    const needed = bytesOf(databaseFile(folder)) + bytesOf(`${databaseFile(folder)}-wal`);
    if (bavail * bsize < needed + LIMITS.diskFreeBytesMin) {
      throw new BackupRefused(
        `There is too little room in ${dirname(draft)}: ${needed} bytes are needed, and a reserve.`,
      );
    }
    closeSync(openSync(draft, 'wx', 0o600));
  } catch (error) {
    if (error instanceof BackupRefused) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new BackupRefused(
      `${draft} cannot be written (${code}). A running server writes it itself: choose a folder that it may write to.`,
    );
  }
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** A file, or the folder that names it. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
