import type { RowCache } from './row-cache.ts';

/** Tables of which only the rules of keys and members are cached. */
export const TABLES_OF_KEYS: ReadonlySet<string> = new Set(['api_key', 'membership']);
/** The other tables that the cache reads. Tables that it does not read, such as that of sessions, are written often. */
export const CACHED_TABLES: ReadonlySet<string> = new Set([
  'account_call',
  'balance',
  'call',
  'instance',
  'key_window',
  'meta',
  'name',
  'person_window',
  'price_list',
  /** A statement whose table was not recognised. */
  'unknown',
]);

/** Call this after a statement that the cache does not know of has written the table: what was read from it is read again. */
export function forgetTable(cache: RowCache, table: string): void {
  if (TABLES_OF_KEYS.has(table)) cache.forgetKeys(null);
  else if (CACHED_TABLES.has(table)) cache.forget();
}
