/** A table of spending by window. */
export interface WindowTable {
  readonly name: 'key_window' | 'person_window';
  /** Whose spending it is; a call has columns of the same names. */
  readonly owner: readonly string[];
  /** The column of a call that says in which window it counts. */
  readonly windowOfCall: string;
  /** For messages, from the cells of the owner. */
  describe(owner: readonly bigint[]): string;
}

export const KEY_WINDOW: WindowTable = {
  name: 'key_window',
  owner: ['key_id'],
  windowOfCall: 'window_id',
  describe: ([keyId]) => `Key ${keyId}`,
};

export const PERSON_WINDOW: WindowTable = {
  name: 'person_window',
  owner: ['account_id', 'person_id'],
  windowOfCall: 'person_window_id',
  describe: ([accountId, personId]) => `Person ${personId} in account ${accountId}`,
};

/** In the order in which rows of several tables are locked. */
export const WINDOW_TABLES: readonly WindowTable[] = [KEY_WINDOW, PERSON_WINDOW];

/** What calls add to windows: selects owner, window_id and the given sums, from the calls that meet the condition. */
export function sumsByWindow({ owner, windowOfCall }: WindowTable, sums: string, condition: string): string {
  const columns = [...owner, windowOfCall].join(', ');
  return `SELECT ${owner.join(', ')}, ${windowOfCall} AS window_id, ${sums} FROM call
    WHERE ${condition} AND ${windowOfCall} IS NOT NULL GROUP BY ${columns}`;
}

/** Equates the keys of two rows of such a table. */
export function sameWindow({ owner }: WindowTable, one: string, other: string): string {
  return [...owner, 'window_id'].map((column) => `${one}.${column} = ${other}.${column}`).join(' AND ');
}

/** A window for messages, like `Key 7, window 0`. */
export function windowOf(table: WindowTable, row: Readonly<Record<string, bigint>>): string {
  return `${table.describe(table.owner.map((column) => row[column]!))}, window ${row.window_id}`;
}
