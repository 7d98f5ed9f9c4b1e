import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Rows per statement, largest first: a call to SQLite costs more than the small row that it writes. */
const GROUPS = [16, 4, 1];

interface GroupStatement {
  readonly statement: StatementSync;
  readonly cells: number;
}

/** Writes whole rows into a table, many per statement. */
export class RowWriter {
  readonly #groups: readonly GroupStatement[];

  /** `verb` decides what happens to a row with the same primary key. */
  constructor(
    database: DatabaseSync,
    verb: 'INSERT' | 'INSERT OR IGNORE' | 'REPLACE',
    table: string,
    columns: readonly string[],
  ) {
    const row = `(${columns.map(() => '?').join(', ')})`;
    this.#groups = GROUPS.map((rows) => ({
      statement: database.prepare(
        `${verb} INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')}`,
      ),
      cells: rows * columns.length,
    }));
  }

  /** `written` holds the cells of the rows, one row after another. */
  write(written: readonly SQLInputValue[]): void {
    let at = 0;
    for (const { statement, cells } of this.#groups) {
      for (; at + cells <= written.length; at += cells) statement.run(...written.slice(at, at + cells));
    }
  }
}
