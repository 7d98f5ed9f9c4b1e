import { CALL_FIELDS, type Fields, nullable, required, SETTLEMENT_FIELDS } from '../canonical/receipt.ts';
import { type HashText, leafHash } from '../kit/hash-tree.ts';
import { CALL_STATE } from './codes.ts';
import { type FieldLayout, layoutOf } from './field-kinds.ts';
import { storable, storableName } from './storable-text.ts';

/**
 * The canonical form of a receipt, which is hashed when the receipt is closed. It is a text: a first line with the
 * version, then a line `name=value` for each column that is not null, in the order of their names; texts that many
 * calls share (models, hosts, the price list) come last. Words are spelled out. A backslash or line feed in a value is
 * escaped. Null columns are left out, so that a new column changes no old hash. Any other change needs a new version
 * beside this one, because the hashes of closed receipts are compared with it for as long as the receipts are kept.
 */
export const FORM = 1;
const FIRST_LINE = `tollgate-receipt ${FORM}\n`;

/** Columns of a call that are in neither list of receipt fields. */
const OTHER_FIELDS = {
  epoch: required('int64'),
  windowId: nullable('integer'),
  personWindowId: nullable('integer'),
  heldNanousd: required('amount'),
  endedMs: nullable('integer'),
  idempotencyKey: nullable('text'),
} as const satisfies Fields;

const LAYOUTS: readonly FieldLayout[] = layoutOf({ ...CALL_FIELDS, ...SETTLEMENT_FIELDS, ...OTHER_FIELDS });

/** Columns with their own value, and their line in SQL that both engines understand; null if the column is. */
const VALUES: readonly (readonly [column: string, line: string])[] = byName([
  ...LAYOUTS.filter(({ kind }) => !kind.isName).flatMap(valuesOf),
  ['state', wordsIn('state', CALL_STATE.of)],
]);

/** Tables of texts that calls refer to by number. */
export type TextTable = 'name' | 'price_list';

/** Columns with the number of a text: the name of the line, the column, the table of the texts. */
const REFERENCES: readonly (readonly [name: string, column: string, table: TextTable])[] = byName([
  ...LAYOUTS.filter(({ kind }) => kind.isName).flatMap(({ columns }) =>
    columns.map((column) => [column, column, 'name'] as const),
  ),
  ['price_version', 'price_id', 'price_list'],
]);

/** Every column of `call` must be here; a test compares the list with both engines. */
export const FORM_CALL_COLUMNS: readonly string[] = [
  ...VALUES.map(([column]) => column),
  ...REFERENCES.map(([, column]) => column),
];

function byName<Line extends readonly [name: string, ...unknown[]]>(lines: Line[]): Line[] {
  return lines.sort(([one], [other]) => (one < other ? -1 : 1));
}

function valuesOf({ kind, columns }: FieldLayout): (readonly [string, string])[] {
  return columns.map((column) => {
    if (kind.words !== undefined) return [column, wordsIn(column, kind.words)];
    const value = kind.word === 'text' ? `replace(replace(${column}, '\\', '\\\\'), '\n', '\\n')` : column;
    return [column, `'${column}=' || ${value}`];
  });
}

/** Whole lines, because joining texts takes most of the time of verifying. */
function wordsIn(column: string, words: Readonly<Record<string, bigint>>): string {
  const cases = Object.entries(words).map(([word, code]) => `WHEN ${code} THEN '${column}=${word}'`);
  return `CASE ${column} ${cases.join(' ')} END`;
}

/** A row that `FORM_SELECT` reads. `values` is the form without the shared texts, `references` has their numbers. */
export type FormRow = readonly [
  id: bigint,
  accountId: bigint,
  createdMs: bigint,
  cost: bigint,
  held: bigint,
  loss: bigint,
  values: string,
  references: string,
  state: bigint,
];

const COLUMNS = [
  'id',
  'account_id',
  'created_ms',
  'cost',
  'held',
  'coalesce(loss, 0)',
  `concat_ws('\n', ${VALUES.map(([, line]) => line).join(', ')})`,
  `concat_ws('/', ${REFERENCES.map(([, column]) => `coalesce(${column}, 0)`).join(', ')})`,
  'state',
];

const COLUMN_NAMES = COLUMNS.map((_, at) => `c${at}`);
export const FORM_SELECT = `SELECT ${COLUMNS.map((sql, at) => `${sql} AS ${COLUMN_NAMES[at]}`).join(', ')} FROM call`;

/** For a connection whose rows have members instead of places. */
export function formRowOf(row: Readonly<Record<string, unknown>>): FormRow {
  return COLUMN_NAMES.map((name) => row[name]) as unknown as FormRow;
}

/** No text has this number, so it stands for null. */
const NONE = '0';

/** The shared texts that a row refers to. */
export function referencesIn([, , , , , , , references]: FormRow): (readonly [TextTable, bigint])[] {
  return references.split('/').flatMap((id, at) => (id === NONE ? [] : [[REFERENCES[at]![2], BigInt(id)] as const]));
}

/** Finds a shared text by its number; null if there is none. */
type FindText = (table: TextTable, id: bigint) => string | null;

/** Combinations of shared texts that are remembered. */
const REMEMBERED_MAX = 20_000;

/** Writes and hashes rows in the canonical form. */
export class ReceiptForm {
  readonly #find: FindText;
  /** The lines of the shared texts, by their numbers. */
  readonly #remembered = new Map<string, string>();

  constructor(find: FindText) {
    this.#find = find;
  }

  /** Texts are as a copy of the ledger in PostgreSQL has them. */
  textOf([, , , , , , values, references]: FormRow): string {
    const lines = this.#remembered.get(references) ?? this.#learn(references);
    return FIRST_LINE + (values.includes('\0') ? storable(values) : values) + lines;
  }

  hashOf(row: FormRow): HashText {
    return leafHash(this.textOf(row));
  }

  #learn(references: string): string {
    const lines = references.split('/').map((id, at) => (id === NONE ? '' : this.#line(at, BigInt(id))));
    const text = storable(lines.join(''));
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.set(references, text);
    return text;
  }

  #line(at: number, id: bigint): string {
    const [name, , table] = REFERENCES[at]!;
    const found = this.#find(table, id);
    if (found === null) return '';
    const text = table === 'name' ? storableName(found, id) : found;
    return `\n${name}=${escaped(text)}`;
  }
}

/** The lines of a form by name, with their values unescaped. */
export function linesOfForm(form: string): Record<string, string> {
  const lines: Record<string, string> = {};
  for (const line of form.split('\n').slice(1)) {
    const end = line.indexOf('=');
    lines[line.slice(0, end)] = unescaped(line.slice(end + 1));
  }
  return lines;
}

/** The form with these lines, in the same order. */
export function formOfLines(lines: Readonly<Record<string, string>>): string {
  let form = '';
  for (const name in lines) form += `${form === '' ? '' : '\n'}${name}=${escaped(String(lines[name]))}`;
  return FIRST_LINE + form;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function unescaped(value: string): string {
  return value.includes('\\') ? value.replace(/\\(.)/g, (_, next: string) => (next === 'n' ? '\n' : next)) : value;
}
