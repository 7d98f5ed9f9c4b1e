import type { DatabaseSync } from 'node:sqlite';

/**
 * `schema`: migrations that were applied. `today_ms`: the latest day on which any batch was applied, since windows
 * never move back. `closed_up_to`: the last call id in the closed part. `listed_up_to`: the last
 * call id in `account_call`. `jobs_generation`: the generation in which jobs may run. The others are the ledger's
 * `Progress`.
 */
type MetaName =
  | 'schema'
  | 'today_ms'
  | 'closed_up_to'
  | 'listed_up_to'
  | 'books_id'
  | 'generation'
  | 'jobs_generation'
  | 'tip'
  | 'receipts'
  | 'spent';

export function readMeta(database: DatabaseSync, name: MetaName): bigint {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
  return (row?.value ?? 0n) as bigint;
}

export function writeMeta(database: DatabaseSync, name: MetaName, value: bigint): void {
  database
    .prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, value);
}
