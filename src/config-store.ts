import { z } from 'zod';
import { Secret } from './kit/secret.ts';
import { LIMITS } from './limits.ts';

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
    (text) => /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text),
    'must be a URL as "postgres://user@host/database"; special characters of a password are written as %40 and the like',
  );

/** Null: the books are in the data folder. */
export function readStore(text: string | undefined): PostgresPlace | null {
  const url = text === undefined ? null : URL.parse(text);
  if (text === undefined || url === null) return null;
  const host = url.searchParams.get('host') ?? url.host;
  return { url: new Secret(text), name: `PostgreSQL ${host === '' ? 'localhost' : host}${url.pathname}` };
}
