import { StoreRefused } from '../store.ts';

const RESTORE = 'restore a backup with "tollgate store restore FILE --force"';

/** What to do about SQLite's result codes that are not mistakes of this program. */
const SQLITE_FAULTS: Readonly<Record<number, string>> = {
  5: 'The database is locked by another program: close that program.',
  8: 'The database cannot be written: make its folder and all files in it writable, or choose another with --data.',
  10: 'Reading or writing the database failed: check the disk.',
  11: `The database is damaged: ${RESTORE}.`,
  13: 'The database cannot grow because the disk is full: free some space.',
  14: 'The database cannot be opened: check that its folder exists and that this user may read and write it.',
  26: `The database file is not a database: ${RESTORE}.`,
};

const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not access it; run as its owner, or choose another with --data',
  EPERM: 'this user may not access it; run as its owner, or choose another with --data',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file has reached the largest size that this process may write; raise it with ulimit -f',
  EIO: 'the disk reports an error',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'it is a file where a folder should be',
  EISDIR: 'it is a folder where a file should be',
  ELOOP: 'its path has a loop of symbolic links',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'this process has too many files open; raise its limit with ulimit -n',
  ENFILE: 'the system has too many files open',
};

/** SQLite has no result code of its own for these. The statements of this program name tables that every ledger has. */
const WRONG_TABLES = /^(?:no such table: .+|table .+ already exists)$/;

/** Whether tables are missing that the database must have, or are there although it does not know its version. */
export function hasWrongTables(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && WRONG_TABLES.test(error.message);
}

/** Work on an open file, whose errors do not name it. */
const FILE_CALLS = new Set(['write', 'fsync', 'fdatasync', 'ftruncate']);

/** One sentence about a fault of the disk, the files or their permissions; null for any other error. */
export function describeFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (hasWrongTables(error)) return `The database is damaged (${error.message}): ${RESTORE}.`;
  if ('errcode' in error && typeof error.errcode === 'number') return SQLITE_FAULTS[error.errcode & 0xff] ?? null;
  const { code, path, syscall = '' } = error as NodeJS.ErrnoException;
  const why = code === undefined ? undefined : FILE_FAULTS[code];
  if (why === undefined) return null;
  if (path !== undefined) return `Cannot use ${path}: ${why} (${code}).`;
  if (code === 'EMFILE' || code === 'ENFILE') return `Cannot open a file or socket: ${why} (${code}).`;
  return FILE_CALLS.has(syscall) ? `A file cannot be written: ${why} (${code}).` : null;
}

/**
 * Runs what opens a data folder; a fault of the disk or of the files becomes a `StoreRefused` with one sentence, which
 * begins with `failure` unless it names the folder.
 */
export async function refusingFaults<Result>(
  folder: string,
  run: () => Result | Promise<Result>,
  failure = `Cannot open the data folder ${folder}`,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const why = describeFault(error);
    if (why === null) throw error;
    const named = why.includes(folder) ? why : `${failure}: ${why[0]?.toLowerCase()}${why.slice(1)}`;
    throw new StoreRefused(named, { cause: error });
  }
}
