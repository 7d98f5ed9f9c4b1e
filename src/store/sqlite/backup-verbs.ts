import { DatabaseSync } from 'node:sqlite';
import type { VerifyProgress, VerifyReport } from '../store.ts';
import { openToRead } from './database.ts';
import type { Served } from './link.ts';
import { Verification } from './verification.ts';

export type BackupVerbs = ReturnType<typeof backupVerbs>;

/** Copying and proving the copy take long and must wait for nobody: they have a thread of their own. */
export function serveBackup(): Served<BackupVerbs> {
  const open: DatabaseSync[] = [];
  return {
    verbs: backupVerbs((database) => open.push(database)),
    end: () => {
      for (const database of open) if (database.isOpen) database.close();
    },
  };
}

function backupVerbs(keep: (database: DatabaseSync) => void) {
  let verification: Verification | null = null;
  return {
    /** All in one reading, which writers do not wait for and which sees none of what they do meanwhile. */
    copy: (folder: string, file: string): void => {
      const database = openToRead(folder);
      keep(database);
      database.prepare('VACUUM INTO ?').run(file);
      database.close();
    },
    /** Why the file cannot be trusted; null if it can. */
    open: (file: string, nowMs: number): string | null => {
      const database = new DatabaseSync(file, { readOnly: true, readBigInts: true });
      keep(database);
      verification = new Verification(database, nowMs);
      return whyDamaged(database);
    },
    step: (): { progress: VerifyProgress; report: VerifyReport | null } => {
      if (verification === null) throw new Error('No file was opened.');
      const report = verification.step();
      return { progress: verification.progress, report };
    },
  };
}

export function whyDamaged(database: DatabaseSync): string | null {
  const [row] = database.prepare('PRAGMA integrity_check(1)').all();
  return row?.integrity_check === 'ok' ? null : String(row?.integrity_check);
}
