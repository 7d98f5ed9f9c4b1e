import pg from 'pg';

/**
 * Whole numbers of every width come back as bigint, so that none is ever rounded and rows read as those of the other
 * engine do; sums, which PostgreSQL makes `numeric`, are whole here too.
 */
const WHOLE_NUMBERS = new Set<number>([pg.types.builtins.INT2, pg.types.builtins.INT4, pg.types.builtins.INT8]);

export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    WHOLE_NUMBERS.has(oid) || oid === pg.types.builtins.NUMERIC
      ? BigInt
      : pg.types.getTypeParser(oid, format as 'text'),
};

/** Arrays travel as PostgreSQL's own text of them, which is quicker made here than by the client library. */
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
 * PostgreSQL's texts hold neither a zero character nor half of a surrogate pair: what people and hosts say is kept
 * without them, and looked for as it is kept.
 */
export function storable(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** Whether it comes back from the database as it was. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
