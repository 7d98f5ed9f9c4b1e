import { CALL_FIELDS, type Receipt, SETTLEMENT_FIELDS } from '../../canonical/receipt.ts';
import { tryParseJson } from '../../json/json.ts';
import { type HashText, leafHash } from '../../kit/hash-tree.ts';
import { CALL_STATE } from '../codes.ts';
import { type FieldLayout, layoutOf, type StoredValue } from '../field-kinds.ts';
import { type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import { formOfLines, linesOfForm } from '../receipt-form.ts';

/** The lines of a receipt's canonical form by name, all as text. */
type ArchivedReceipt = Readonly<Record<string, string>>;

/** Not the name of a column: it has the hash of the others. */
const LEAF = 'leaf';

/** A receipt as a line of JSON, with the hash that it has in the tree of its month. */
export function writeLine(form: string): string {
  return JSON.stringify({ ...linesOfForm(form), [LEAF]: hexOf(leafHash(form)) });
}

export interface ReadLine {
  readonly receipt: ArchivedReceipt;
  readonly leaf: HashText;
}

/** Reads such a line; null if it is invalid, or if its hash is not that of its content. */
export function readLine(line: string): ReadLine | null {
  const value = tryParseJson(line);
  if (typeof value !== 'object' || value === null) return null;
  const { [LEAF]: noted, ...receipt } = value as Record<string, string>;
  const leaf = leafHash(formOfLines(receipt));
  return noted === hexOf(leaf) ? { receipt, leaf } : null;
}

function hexOf(leaf: HashText): string {
  return Buffer.from(leaf, 'latin1').toString('hex');
}

const LAYOUTS = layoutOf({ ...CALL_FIELDS, ...SETTLEMENT_FIELDS });

/** The same receipt as when it was a row. */
export function receiptOfArchived(archived: ArchivedReceipt): Receipt {
  const row: Record<string, StoredValue | null> = {
    state: CALL_STATE.of[archived.state as keyof typeof CALL_STATE.of],
    price_version: archived.price_version ?? '',
    held: BigInt(archived.held!),
    idempotency_key: archived.idempotency_key ?? null,
    ended_ms: archived.ended_ms === undefined ? null : BigInt(archived.ended_ms),
  };
  for (const layout of LAYOUTS) {
    for (const column of layout.columns)
      row[layout.kind.isName ? `${column}_text` : column] = cellOf(layout, archived[column]);
  }
  return receiptOf(row as ReceiptColumns);
}

function cellOf({ kind }: FieldLayout, text: string | undefined): StoredValue | null {
  if (text === undefined) return null;
  if (kind.words !== undefined) return kind.words[text] ?? null;
  return kind.word === 'text' ? text : BigInt(text);
}
