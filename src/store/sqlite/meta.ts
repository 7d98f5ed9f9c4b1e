import type { DatabaseSync } from 'node:sqlite';

/**
 * `schema`: steps taken. `today_ms`: the latest day any batch was applied on, since windows never move back.
 * `closed_up_to`: the last call id that closed books cover. `books_id`: tells these books from others, once that matters.
 */
export type MetaName = 'schema' | 'today_ms' | 'closed_up_to' | 'books_id';

export function readMeta(database: DatabaseSync, name: MetaName): bigint {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
  return (row?.value ?? 0n) as bigint;
}

export function writeMeta(database: DatabaseSync, name: MetaName, value: bigint): void {
  database
    .prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, value);
}
