import { type FormRow, ReceiptForm, referencesIn, type TextTable } from '../receipt-form.ts';
import { type Program, rowOf } from './program.ts';

/** The most texts that are remembered; with more, the memory is emptied. */
const TEXTS_MAX = 50_000;

/** The canonical form of receipts, for programs: the texts that a row refers to are read before it is written. */
export class FormTexts {
  readonly form: ReceiptForm;
  readonly #texts = { name: new Map<bigint, string>(), price_list: new Map<bigint, string>() };

  constructor() {
    this.form = new ReceiptForm((table, id) => this.#texts[table].get(id) ?? null);
  }

  *learn(rows: readonly FormRow[]): Program<void> {
    const missing = { name: new Set<bigint>(), price_list: new Set<bigint>() };
    for (const row of new Map(rows.map((one) => [one[7], one])).values()) {
      for (const [table, id] of referencesIn(row)) if (!this.#texts[table].has(id)) missing[table].add(id);
    }
    yield* this.#learn('name', 'text', [...missing.name]);
    yield* this.#learn('price_list', 'version', [...missing.price_list]);
  }

  *#learn(table: TextTable, column: string, ids: readonly bigint[]): Program<void> {
    const known = this.#texts[table];
    if (known.size > TEXTS_MAX) known.clear();
    for (const id of ids) {
      const row = yield* rowOf<{ text: string }>(`SELECT ${column} AS text FROM ${table} WHERE id = ?`, id);
      if (row !== null) known.set(id, row.text);
    }
  }
}
