import { chmodSync, constants, copyFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import { BackupRefused, type RestoreReport } from '../backup.ts';
import { StoreRefused, type VerifyProgress } from '../store.ts';
import { breakSeal } from './backup-seal.ts';
import { proveDatabase } from './prove-database.ts';
import {
  draftPath,
  finishReplacement,
  raiseGeneration,
  removeDraft,
  removeUnlessBegun,
  replaceLedger,
  stampedName,
} from './replace-ledger.ts';

interface RestoreTerms {
  readonly file: string;
  readonly folder: string;
  /** Moves existing data aside; without it, the folder must be empty. */
  readonly force: boolean;
  readonly clock: Clock;
  progress(done: VerifyProgress): void;
}

/** Files that a folder may contain and still count as empty: locks, and the keys that backups do not contain. */
const NO_BOOKS = /^(lock\.sqlite(-journal)?|holder\.json(\.new)?|control\.sock|master\.key|replacement\..*)$/;

/**
 * Restores a backup into a folder whose lock the caller holds. Nothing changes there before the backup was verified.
 */
export function restoreBooks({ file, folder, force, clock, progress }: RestoreTerms): RestoreReport {
  const others = readdirSync(folder).filter((name) => !NO_BOOKS.test(name));
  if (others.length > 0 && !force) {
    throw new BackupRefused(
      `${folder} is not empty (${others.slice(0, 3).join(', ')}). Use --force to move its ledger aside and replace it.`,
    );
  }
  settleEarlier(folder);
  try {
    takeFile(file, draftPath(folder));
    let generation = 0n;
    const books = proveDatabase({
      file: draftPath(folder),
      nowMs: clock.nowMs(),
      progress,
      finish: (database) => {
        generation = raiseGeneration(database, folder);
      },
    });
    const keptIn = replaceLedger(folder, generation, stampedName('before-restore', clock.nowMs()));
    return { folder, keptIn, books };
  } catch (error) {
    removeUnlessBegun(folder);
    throw error;
  }
}

/** Finishes an earlier replacement that was interrupted, because it may have moved files; deletes one that cannot be finished. */
function settleEarlier(folder: string): void {
  try {
    finishReplacement(folder);
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
  }
  removeDraft(folder);
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
  breakSeal(draft, file);
}
