import { z } from 'zod';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';

/** A PostgreSQL that has the books. */
export interface PostgresPlace {
  /** It may hold a password. */
  readonly url: Secret;
  /** Which database that is, for people. */
  readonly name: string;
}

export const storeUrlSchema = z
  .string()
  .max(LIMITS.urlCharsMax)
  .refine(
    (text) => parseStoreUrl(text) !== null,
    'must be a URL as "postgres://user@host:5432/database", or "postgres://user@/database?host=/run/postgresql" for a socket; special characters of a password are written as %40 and the like',
  );

/** Null: the books are in the data folder. */
export function readStore(text: string | undefined): PostgresPlace | null {
  const url = text === undefined ? null : parseStoreUrl(text);
  if (text === undefined || url === null) return null;
  const host = url.searchParams.get('host') ?? url.host;
  return { url: new Secret(text), name: `PostgreSQL ${host === '' ? 'localhost' : host}${url.pathname}` };
}

/** Null where it is none. PostgreSQL's own form for a socket has a user at no host, which is no URL elsewhere. */
function parseStoreUrl(text: string): URL | null {
  if (!/^postgres(ql)?:\/\/./.test(text)) return null;
  const url = URL.parse(text);
  if (url !== null) return url;
  const local = URL.parse(text.replace('@/', '@localhost/'));
  // Otherwise it is a password with such characters in it, of which a part would be shown as the database's name.
  return local?.searchParams.get('host')?.startsWith('/') && !local.pathname.includes('@') ? local : null;
}
