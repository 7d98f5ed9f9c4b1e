import type { RowCache } from './row-cache.ts';

/** Tables of which nothing is cached. Sessions are written every minute, and the next calls should not be slower for it. */
export const NOT_CACHED: ReadonlySet<string> = new Set([
  'account',
  'person',
  'session',
  'invitation',
  'management_key',
  'former_member',
  'provider_key',
  'audit',
  'token_overrun',
  'credit',
  'webhook',
  'webhook_secret',
  'webhook_delivery',
]);
/** Tables of which only the rules of keys and members are cached. */
export const TABLES_OF_KEYS: ReadonlySet<string> = new Set(['api_key', 'membership']);

/** Call this after a statement that the cache does not know of has written the table: what was read from it is read again. */
export function forgetTable(cache: RowCache, table: string): void {
  if (NOT_CACHED.has(table)) return;
  if (TABLES_OF_KEYS.has(table)) cache.forgetKeys(null);
  else cache.forget();
}
