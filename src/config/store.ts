import { z } from 'zod';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';

/** A PostgreSQL database that holds the ledger. */
export interface PostgresPlace {
  /** May contain a password. */
  readonly url: Secret;
  /** Host and database, for messages. */
  readonly name: string;
}

export const storeUrlSchema = z
  .string()
  .max(LIMITS.urlCharsMax)
  .refine(
    (text) => parseStoreUrl(text) !== null,
    'must be a URL like "postgres://user@host:5432/database", or "postgres://user@/database?host=/run/postgresql" for a socket; escape special characters of a password, like %40 for @',
  );

/** Null if the ledger is in the data folder. */
export function readStore(text: string | undefined): PostgresPlace | null {
  const url = text === undefined ? null : parseStoreUrl(text);
  if (text === undefined || url === null) return null;
  const host = url.searchParams.get('host') ?? url.host;
  return { url: new Secret(text), name: `PostgreSQL ${host === '' ? 'localhost' : host}${url.pathname}` };
}

/** Null if it is not valid. PostgreSQL's form for a socket has a user but no host, which URL does not accept. */
function parseStoreUrl(text: string): URL | null {
  if (!/^postgres(ql)?:\/\/./.test(text)) return null;
  const url = URL.parse(text);
  if (url !== null) return url;
  const local = URL.parse(text.replace('@/', '@localhost/'));
  // Any other such text has unescaped characters in its password, and part of it would show as the database's name.
  return local?.searchParams.get('host')?.startsWith('/') && !local.pathname.includes('@') ? local : null;
}
