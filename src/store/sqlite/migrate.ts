import type { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from '../migrations/index.ts';
import type { Migration } from '../migrations/migration.ts';
import { StoreRefused } from '../store.ts';
import { inTransaction } from './database.ts';
import { readMeta, writeMeta } from './meta.ts';

/** Applies the missing migrations, each in its own transaction; a new ledger gets all in one, because every commit waits for the disk. */
export function migrate(database: DatabaseSync, migrations: readonly Migration[] = MIGRATIONS): void {
  database.exec('CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT');
  const latest = migrations.length;
  const current = Number(readMeta(database, 'schema'));
  if (current > latest) {
    throw new StoreRefused(
      `This data folder was written by a newer version of Tollgate (schema ${current}; this version supports ${latest}). Start that version instead.`,
    );
  }
  const apply = ({ sqlite, number }: Migration): void => {
    database.exec(sqlite);
    writeMeta(database, 'schema', BigInt(number));
  };
  if (current === 0) inTransaction(database, () => migrations.forEach(apply));
  else for (const migration of migrations.slice(current)) inTransaction(database, () => apply(migration));
}
