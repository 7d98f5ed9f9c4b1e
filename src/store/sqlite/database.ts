import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../kit/make-folder.ts';
import { LIMITS } from '../../limits.ts';

/** Page cache of each connection in kilobytes; the active part of a large ledger is a few megabytes. */
const CACHE_KIB = 16_384;

export function databaseFile(folder: string): string {
  return join(folder, 'tollgate.sqlite');
}

/** Creates the folder and the file, readable by the owner only; SQLite gives its side files the same permissions. */
export function createFiles(folder: string): void {
  const file = databaseFile(folder);
  const firstCreated = makeFolder(folder);
  createFile(file);
  syncPath(folder);
  if (firstCreated !== undefined) syncPath(dirname(firstCreated));
}

/** Does not open an existing file: closing it again would drop every lock of this process on it. */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Flushes a file, or a folder: a new file survives a crash only if its folder entry was flushed too. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Every commit is on disk before it returns (FULL), and readers never wait for it (WAL). */
export function openToWrite(folder: string): DatabaseSync {
  const database = new DatabaseSync(databaseFile(folder), { timeout: LIMITS.storeBusyMs, readBigInts: true });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${LIMITS.storeCheckpointPages};
    PRAGMA journal_size_limit = ${LIMITS.storeLogBytesMax};
  `);
  return database;
}

export function openToRead(folder: string): DatabaseSync {
  const database = new DatabaseSync(databaseFile(folder), {
    readOnly: true,
    timeout: LIMITS.storeBusyMs,
    readBigInts: true,
  });
  database.exec(`PRAGMA cache_size = -${CACHE_KIB};`);
  return database;
}

/** Reads as of one moment. */
export function atOneMoment<Result>(database: DatabaseSync, read: () => Result): Result {
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    database.exec('COMMIT');
  }
}

/** Runs in one transaction. Batches of money operations have their own way to survive a failing operation. */
export function inTransaction<Result>(database: DatabaseSync, run: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = run();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
