import { openAll } from '../../kit/cleanup.ts';
import { createFiles, openToWrite } from './database.ts';
import { checkMark } from './lost-commits.ts';
import { migrate } from './migrate.ts';
import { noteReturn } from './moved-ledger.ts';
import { finishReplacement } from './replace-ledger.ts';
import { openLinks, type SqliteStoreOptions } from './store-links.ts';
import { type SqliteStore, ThreadedStore } from './threaded-store.ts';

export type { SqliteStoreOptions } from './store-links.ts';
export type { SqliteStore } from './threaded-store.ts';

/** Opens or creates the store in that folder, unless commits are missing. The caller holds the folder's lock. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  finishReplacement(options.folder);
  const notice = checkMark(options.folder);
  if (notice !== null) options.onNotice?.(notice);
  createFiles(options.folder);
  const database = openToWrite(options.folder);
  try {
    migrate(database);
    noteReturn(database, options.folder);
  } finally {
    database.close();
  }
  return joinSqliteStore(options);
}

/** The store in another thread of a process that has opened it, or what remains to be done to open it. */
export function joinSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  return openAll(async (cleanup) => {
    const links = await openLinks(options);
    cleanup.add(() => links.writer.end());
    const store = new ThreadedStore(options, links);
    cleanup.add(() => store.close());
    await store.ready();
    return store;
  });
}
