import type { ClosedMonth, MonthPart, MonthTreeRow, PlacedRow, TreeChunkRow } from '../month-tree.ts';
import { FORM_SELECT, type FormRow, formRowOf, ReceiptForm, referencesIn, type TextTable } from '../receipt-form.ts';
import type { RunSql } from './connections.ts';
import { withEscapes } from './values.ts';

/** The most texts that are remembered; with more, the memory is emptied. */
const TEXTS_MAX = 50_000;

const SELECT = withEscapes(FORM_SELECT);

/** Reads closed months, their trees, and receipts in the canonical form. */
export class MonthReader {
  /** Writes only rows that `rows` has returned. */
  readonly form: ReceiptForm;
  readonly #texts = { name: new Map<bigint, string>(), price_list: new Map<bigint, string>() };

  constructor() {
    this.form = new ReceiptForm((table, id) => this.#texts[table].get(id) ?? null);
  }

  /** The next calls with `after < id <= upTo`. */
  async rows(sql: RunSql, after: bigint, upTo: bigint, rowsMax: number): Promise<FormRow[]> {
    const text = `${SELECT} WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`;
    const found = await sql<Record<string, unknown>>(text, [after, upTo, rowsMax]);
    const rows = found.map(formRowOf);
    await this.#learnTexts(sql, rows);
    return rows;
  }

  months(sql: RunSql): Promise<ClosedMonth[]> {
    return sql<ClosedMonth>('SELECT * FROM closed_month ORDER BY month_ms');
  }

  chunks(sql: RunSql, monthMs: bigint): Promise<TreeChunkRow[]> {
    return sql<TreeChunkRow>('SELECT * FROM tree_chunk WHERE month_ms = $1 ORDER BY account_id, number', [monthMs]);
  }

  trees(sql: RunSql, monthMs: bigint, part: MonthPart): Promise<MonthTreeRow[]> {
    const text = 'SELECT * FROM month_tree WHERE month_ms = $1 AND part = $2 ORDER BY account_id';
    return sql<MonthTreeRow>(text, [monthMs, part]);
  }

  /** The trees that these calls belong to. */
  async treesOf(
    sql: RunSql,
    rows: readonly PlacedRow[],
    part: MonthPart,
  ): Promise<(monthMs: bigint, accountId: bigint) => MonthTreeRow | null> {
    const found = await sql<MonthTreeRow>(
      `SELECT * FROM month_tree WHERE part = $1
         AND (month_ms, account_id) IN (SELECT * FROM unnest($2::int8[], $3::int8[]))`,
      [part, rows.map(({ monthMs }) => monthMs), rows.map(({ row }) => row[1])],
    );
    const trees = new Map(found.map((tree) => [`${tree.month_ms}/${tree.account_id}`, tree]));
    return (monthMs, accountId) => trees.get(`${monthMs}/${accountId}`) ?? null;
  }

  async #learnTexts(sql: RunSql, rows: readonly FormRow[]): Promise<void> {
    const missing = { name: new Set<bigint>(), price_list: new Set<bigint>() };
    const distinct = new Map(rows.map((row) => [row[7], row]));
    for (const row of distinct.values()) {
      for (const [table, id] of referencesIn(row)) if (!this.#texts[table].has(id)) missing[table].add(id);
    }
    await this.#learn(sql, 'name', 'text', missing.name);
    await this.#learn(sql, 'price_list', 'version', missing.price_list);
  }

  async #learn(sql: RunSql, table: TextTable, column: string, ids: ReadonlySet<bigint>): Promise<void> {
    if (ids.size === 0) return;
    const known = this.#texts[table];
    if (known.size > TEXTS_MAX) known.clear();
    const query = `SELECT id, ${column} AS text FROM ${table} WHERE id = ANY($1::int8[])`;
    for (const { id, text } of await sql<{ id: bigint; text: string }>(query, [[...ids]])) known.set(id, text);
  }
}

/** The last call in any month's tree; 0 if there is none. */
export async function lastInTrees(sql: RunSql): Promise<bigint> {
  const [row] = await sql<{ id: bigint }>('SELECT coalesce(max(up_to), 0::int8) AS id FROM closed_month');
  return row!.id;
}

export async function closedUpTo(sql: RunSql): Promise<bigint> {
  const [row] = await sql<{ value: bigint }>("SELECT value FROM meta WHERE name = 'closed_up_to'");
  return row!.value;
}
