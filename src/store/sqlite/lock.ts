import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { tryParseJson } from '../../json/json.ts';
import { createFile } from './database.ts';

/** Who works on a data folder, and how to reach it. */
export interface Holder {
  readonly pid: number;
  readonly url: string | null;
  readonly socketPath: string | null;
  readonly startedMs: number;
}

export interface FolderLock {
  /** Says anew who holds the folder, once more is known. */
  describe(holder: Holder): void;
  release(): void;
}

const SQLITE_BUSY = 5;

/** A lock to which nobody refers any more would be closed by the garbage collector, and so given away. */
const HELD = new Set<DatabaseSync>();

/**
 * One process per data folder. The lock is the operating system's, on a file of its own, and ends with the process
 * however it ends; `holder.json` only tells others whom to ask. Who does not get the lock has touched nothing else.
 */
export function lockFolder(folder: string, holder: Holder): FolderLock | { heldBy: Holder | null } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
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

/** An exclusive transaction on an empty database that is never ended: it writes nothing and leaves no journal. */
function takeLock(file: string): DatabaseSync | null {
  createFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
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
