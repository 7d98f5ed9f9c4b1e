import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import { describePrivateTmp } from '../../kit/private-tmp.ts';
import { LIMITS } from '../../limits.ts';
import { BackupRefused, type BackupReport } from '../backup.ts';
import type { VerifyProgress, VerifyReport } from '../store.ts';
import type { BackupVerbs } from './backup-verbs.ts';
import { databaseFile, syncPath } from './database.ts';
import { Thread } from './thread.ts';

export interface BackupTerms {
  readonly folder: string;
  /** An absolute path where no file exists yet. */
  readonly file: string;
  readonly clock: Clock;
  progress?(done: VerifyProgress): void;
}

/**
 * Writes the ledger as it is now into one file, with every receipt that was on disk before. The file gets its name only
 * after it was read back, verified and flushed to disk.
 */
export async function backUp({ folder, file, clock, progress }: BackupTerms): Promise<BackupReport> {
  if (existsSync(file)) throw new BackupRefused(`The file ${file} already exists. Choose another name.`);
  const fleeting = describePrivateTmp(file);
  if (fleeting !== null) throw new BackupRefused(fleeting);
  const draft = `${file}.${randomBytes(4).toString('hex')}.part`;
  createDraft(draft, folder);
  const thread = new Thread<BackupVerbs>('backup-worker', null, () => undefined);
  try {
    await thread.call('copy', folder, draft);
    const damage = await thread.call('open', draft, clock.nowMs());
    if (damage !== null) throw new BackupRefused(`The backup was damaged and has been deleted: ${damage}`);
    const books = await verified(thread, progress);
    await thread.call('seal', draft);
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

/** Readable by the owner only, like the ledger. It must leave enough disk space for calls to be admitted. */
function createDraft(draft: string, folder: string): void {
  try {
    const { bavail, bsize } = statfsSync(dirname(draft));
    const needed = bytesOf(databaseFile(folder)) + bytesOf(`${databaseFile(folder)}-wal`);
    if (bavail * bsize < needed + LIMITS.diskFreeBytesMin) {
      throw new BackupRefused(
        `Not enough disk space in ${dirname(draft)}: the backup needs ${needed} bytes and a reserve.`,
      );
    }
    closeSync(openSync(draft, 'wx', 0o600));
  } catch (error) {
    if (error instanceof BackupRefused) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOENT') throw new BackupRefused(`The folder ${dirname(draft)} does not exist. Make it first.`);
    throw new BackupRefused(
      `Cannot write ${draft} (${code}). If a server is running, it writes the backup: choose a folder that it can write to.`,
    );
  }
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
