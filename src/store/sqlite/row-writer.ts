import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Rows one statement writes at a time: calling SQLite costs more than the small row it then writes. */
const GROUP = 16;

/** Writes whole rows over what stood under their primary keys, many rows to a statement. */
export class RowWriter {
  readonly #one: StatementSync;
  readonly #group: StatementSync;
  readonly #columns: number;

  constructor(database: DatabaseSync, table: string, columns: readonly string[]) {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const replace = `REPLACE INTO ${table} (${columns.join(', ')}) VALUES `;
    this.#columns = columns.length;
    this.#one = database.prepare(replace + row);
    this.#group = database.prepare(replace + Array(GROUP).fill(row).join(', '));
  }

  /** `cells` are the rows' cells, one row after another. */
  write(cells: readonly SQLInputValue[]): void {
    const groupCells = GROUP * this.#columns;
    let at = 0;
    for (; at + groupCells <= cells.length; at += groupCells) this.#group.run(...cells.slice(at, at + groupCells));
    for (; at < cells.length; at += this.#columns) this.#one.run(...cells.slice(at, at + this.#columns));
  }
}
