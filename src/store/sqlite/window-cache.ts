import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { WindowTable } from '../window-tables.ts';
import type { HeldSums } from './held.ts';
import { RowWriter } from './row-writer.ts';

export interface WindowRow {
  /** The cells of the table's owner. */
  readonly owner: readonly bigint[];
  readonly windowId: bigint;
  readonly closed: bigint;
  spent: bigint;
  /** The sum of its open calls; not stored. */
  held: bigint;
  /** For jobs that wait to run. */
  reserved: bigint;
  /** False until its first hold creates the row. */
  stored: boolean;
  dirty: boolean;
}

/** The windows that the writer has read, and those of them that it has changed. */
export class WindowCache {
  readonly #table: WindowTable;
  readonly #rows = new Map<string, WindowRow>();
  readonly #dirty: WindowRow[] = [];
  readonly #read: StatementSync;
  readonly #writer: RowWriter;

  constructor(database: DatabaseSync, table: WindowTable) {
    const { name, owner } = table;
    const key = [...owner, 'window_id'];
    const isWanted = key.map((column) => `${column} = ?`).join(' AND ');
    this.#table = table;
    this.#read = database.prepare(`SELECT spent, closed, reserved FROM ${name} WHERE ${isWanted}`);
    this.#read.setReturnArrays(true);
    this.#writer = new RowWriter(database, 'REPLACE', name, [...key, 'spent', 'closed', 'reserved']);
  }

  get size(): number {
    return this.#rows.size;
  }

  /** `heldBefore` is asked only for a window that was not read before. */
  find(owner: readonly bigint[], windowId: bigint, heldBefore: () => HeldSums): WindowRow {
    const name = `${owner.join('/')}/${windowId}`;
    return this.#rows.get(name) ?? this.#load(name, owner, windowId, heldBefore());
  }

  #load(name: string, owner: readonly bigint[], windowId: bigint, sums: HeldSums): WindowRow {
    const row = this.#read.get(...owner, windowId) as unknown as [bigint, bigint, bigint] | undefined;
    const [spent, closed, reserved] = row ?? [0n, 0n, 0n];
    const held = sums.ofWindow(this.#table, owner, windowId);
    const loaded = { owner, windowId, spent, held, closed, reserved, stored: row !== undefined, dirty: false };
    this.#rows.set(name, loaded);
    return loaded;
  }

  hold(row: WindowRow, amount: bigint): void {
    row.held += amount;
    if (!row.stored) this.#touch(row);
  }

  charge(row: WindowRow, cost: bigint): void {
    row.spent += cost;
    this.#touch(row);
  }

  /** Frees the amount if it is negative. */
  reserve(row: WindowRow, amount: bigint): void {
    row.reserved += amount;
    this.#touch(row);
  }

  #touch(row: WindowRow): void {
    if (row.dirty) return;
    row.dirty = true;
    this.#dirty.push(row);
  }

  flush(): void {
    if (this.#dirty.length === 0) return;
    const cells: bigint[] = [];
    for (const row of this.#dirty) {
      for (const cell of row.owner) cells.push(cell);
      cells.push(row.windowId, row.spent, row.closed, row.reserved);
      row.stored = true;
      row.dirty = false;
    }
    this.#writer.write(cells);
    this.#dirty.length = 0;
  }

  /** One sentence for each window whose held amount differs from the open calls in the file. */
  drift(sums: HeldSums): string[] {
    return [...this.#rows.values()].flatMap(({ owner, windowId, held }) => {
      const computed = sums.ofWindow(this.#table, owner, windowId);
      if (held === computed) return [];
      const what = `${this.#table.describe(owner)}, window ${windowId}`;
      return [`${what}: the writer counts ${held} held, the open calls add up to ${computed}.`];
    });
  }

  forget(): void {
    this.#rows.clear();
    this.#dirty.length = 0;
  }
}
