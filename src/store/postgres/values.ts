import pg from 'pg';

export { isStorable, storable } from '../storable-text.ts';

/**
 * Integers of every width are returned as bigint, so that none is ever rounded and rows equal those of SQLite. So are
 * sums, which PostgreSQL returns as `numeric`.
 */
const WHOLE_NUMBERS = new Set<number>([pg.types.builtins.INT2, pg.types.builtins.INT4, pg.types.builtins.INT8]);

export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    WHOLE_NUMBERS.has(oid) || oid === pg.types.builtins.NUMERIC
      ? BigInt
      : pg.types.getTypeParser(oid, format as 'text'),
};

/** Arrays are sent in PostgreSQL's text format, which is faster to build here than in the client library. */
export function numbers(values: readonly (bigint | number | null)[]): string {
  let text = '{';
  for (const value of values) text += text === '{' ? (value ?? 'NULL') : `,${value ?? 'NULL'}`;
  return `${text}}`;
}

export function texts(values: readonly (string | null)[]): string {
  const quoted = values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`));
  return `{${quoted.join(',')}}`;
}

export function bytes(values: readonly (Uint8Array | null)[]): string {
  const quoted = values.map((value) => (value === null ? 'NULL' : `"\\\\x${Buffer.from(value).toString('hex')}"`));
  return `{${quoted.join(',')}}`;
}

/**
 * The same SQL whatever `standard_conforming_strings` is: only in literals with an E does a backslash mean the same in every
 * database.
 */
export function withEscapes(sql: string): string {
  if (!sql.includes('\\')) return sql;
  return sql.replace(/'[^']*\\[^']*'/g, (literal) => `E${literal.replaceAll('\\', '\\\\')}`);
}
