import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { tryParseJson } from '../../json/json.ts';
import { makeFolder } from '../../kit/make-folder.ts';
import { StoreRefused } from '../store.ts';
import { createFile } from './database.ts';

/** The process that has a data folder open, and how to reach it. */
export interface Holder {
  readonly pid: number;
  readonly url: string | null;
  readonly socketPath: string | null;
  readonly startedMs: number;
  /** Whether its callers need a key; absent for a command, and until it is known. */
  readonly needsKey?: boolean;
}

export interface FolderLock {
  /** Updates the description of the holder once more is known. */
  describe(holder: Holder): void;
  release(): void;
}

const SQLITE_BUSY = 5;
const SQLITE_NOT_A_DATABASE = 26;

/** Keeps a reference to the lock; otherwise the garbage collector would close and so release it. */
const HELD = new Set<DatabaseSync>();

/**
 * Allows one process per data folder. The operating system holds the lock, on a separate file, and releases it when the
 * process ends in any way; `holder.json` only tells others whom to ask. A process that does not get the lock has
 * changed nothing.
 */
export function lockFolder(folder: string, holder: Holder): FolderLock | { heldBy: Holder | null } {
  makeFolder(folder);
  const lock = takeLock(join(folder, 'lock.sqlite'));
  const holderFile = join(folder, 'holder.json');
  if (lock === null) return { heldBy: readHolder(holderFile) };
  HELD.add(lock);
  writeHolder(holderFile, holder);
  return {
    describe: (known) => writeHolder(holderFile, known),
    release: () => {
      if (!lock.isOpen) return;
      rmSync(holderFile, { force: true });
      lock.close();
      HELD.delete(lock);
    },
  };
}

/** The process that has the folder open, without creating anything; null if none has, or it cannot be known. */
export function findHolder(folder: string): Holder | null {
  const file = join(folder, 'lock.sqlite');
  if (!existsSync(file)) return null;
  const lock = takeLock(file);
  if (lock === null) return readHolder(join(folder, 'holder.json'));
  lock.close();
  return null;
}

/** An exclusive transaction on an empty database that never ends: it writes nothing and leaves no journal. */
function takeLock(file: string): DatabaseSync | null {
  createFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
    if (code === SQLITE_BUSY) return null;
    if (code === SQLITE_NOT_A_DATABASE)
      throw new StoreRefused(`The lock file ${file} is damaged: delete it and try again.`);
    throw error;
  }
}

function writeHolder(file: string, holder: Holder): void {
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

function readHolder(file: string): Holder | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const value = tryParseJson(text);
  return isHolder(value) ? value : null;
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, url, socketPath, startedMs } = value as Record<string, unknown>;
  const areTexts = [url, socketPath].every((text) => text === null || typeof text === 'string');
  return areTexts && Number.isSafeInteger(pid) && Number.isSafeInteger(startedMs);
}
