import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ClosedMonth, MonthPart, MonthTreeRow, TreeChunkRow, TreeStart } from '../month-tree.ts';
import { FORM_SELECT, type FormRow, ReceiptForm } from '../receipt-form.ts';

/** Reads closed months, their trees, and receipts in the canonical form. */
export class MonthReader {
  readonly form: ReceiptForm;
  readonly #database: DatabaseSync;
  readonly #rows: StatementSync;
  readonly #tree: StatementSync;

  constructor(database: DatabaseSync) {
    const texts = {
      name: database.prepare('SELECT text FROM name WHERE id = ?'),
      price_list: database.prepare('SELECT version AS text FROM price_list WHERE id = ?'),
    };
    this.#database = database;
    this.form = new ReceiptForm((table, id) => (texts[table].get(id)?.text ?? null) as string | null);
    this.#rows = database.prepare(`${FORM_SELECT} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`);
    this.#rows.setReturnArrays(true);
    this.#tree = database.prepare(`
      SELECT form, calls, spent, held, loss, peaks FROM month_tree WHERE month_ms = ? AND account_id = ? AND part = ?`);
    this.#tree.setReturnArrays(true);
  }

  /** The next calls with `after < id <= upTo`. */
  rows(after: bigint, upTo: bigint, rowsMax: number): FormRow[] {
    return this.#rows.all(after, upTo, BigInt(rowsMax)) as unknown as FormRow[];
  }

  months(): ClosedMonth[] {
    return this.#database.prepare('SELECT * FROM closed_month ORDER BY month_ms').all() as unknown as ClosedMonth[];
  }

  tree(monthMs: bigint, accountId: bigint, part: MonthPart): TreeStart | null {
    const row = this.#tree.get(monthMs, accountId, part) as unknown as TreeCells | undefined;
    if (row === undefined) return null;
    const [form, calls, spent, held, loss, peaks] = row;
    return { form, calls, spent, held, loss, peaks };
  }

  chunks(monthMs: bigint): Iterable<TreeChunkRow> {
    return this.#database
      .prepare('SELECT * FROM tree_chunk WHERE month_ms = ? ORDER BY account_id, number')
      .iterate(monthMs) as Iterable<unknown> as Iterable<TreeChunkRow>;
  }

  trees(monthMs: bigint, part: MonthPart): Iterable<MonthTreeRow> {
    return this.#database
      .prepare('SELECT * FROM month_tree WHERE month_ms = ? AND part = ? ORDER BY account_id')
      .iterate(monthMs, part) as Iterable<unknown> as Iterable<MonthTreeRow>;
  }
}

type TreeCells = readonly [form: bigint, calls: bigint, spent: bigint, held: bigint, loss: bigint, peaks: Uint8Array];

/** The last call in any month's tree; 0 if there is none. */
export function lastInTrees(database: DatabaseSync): bigint {
  const row = database.prepare('SELECT coalesce(max(up_to), 0) AS id FROM closed_month').get();
  return row?.id as bigint;
}
