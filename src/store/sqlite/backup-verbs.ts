import { DatabaseSync } from 'node:sqlite';
import type { VerifyProgress, VerifyReport } from '../store.ts';
import { sealBackup } from './backup-seal.ts';
import { openToRead } from './database.ts';
import type { Served } from './link.ts';
import { Verification } from './verification.ts';

export type BackupVerbs = ReturnType<typeof backupVerbs>;

/** Copying and checking the copy take long and must not block others, so they run in their own thread. */
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
    /** Copies in a single read transaction: writers do not wait for it, and it does not see their changes. */
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
    seal: (file: string): void => sealBackup(file),
    step: (): { progress: VerifyProgress; report: VerifyReport | null } => {
      if (verification === null) throw new Error('No backup file is open.');
      const report = verification.step();
      return { progress: verification.progress, report };
    },
  };
}

export function whyDamaged(database: DatabaseSync): string | null {
  const [row] = database.prepare('PRAGMA integrity_check(1)').all();
  return row?.integrity_check === 'ok' ? null : String(row?.integrity_check);
}
