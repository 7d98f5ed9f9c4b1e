import {
  CALL_FIELDS,
  type Fields,
  NOTHING_SETTLED,
  type Receipt,
  SETTLEMENT_FIELDS,
  type ValuesOf,
} from '../canonical/receipt.ts';
import { CALL_STATE } from './codes.ts';
import { type FieldLayout, layoutOf, type StoredValue } from './field-kinds.ts';

type Cell = Exclude<StoredValue, number> | null;

/** A row that `RECEIPT_SELECT` reads, as both engines return it. */
export interface ReceiptColumns extends Readonly<Record<string, Cell>> {
  readonly account_id: bigint;
  readonly state: bigint;
  readonly held: bigint;
  readonly price_version: string;
  readonly idempotency_key: string | null;
  readonly ended_ms: bigint | null;
}

const NAMES_OF_CALL = nameColumns(CALL_FIELDS);
const NAMES_OF_SETTLEMENT = nameColumns(SETTLEMENT_FIELDS);

export const RECEIPT_SELECT = `
  SELECT call.*, price_list.version AS price_version,
    ${[...NAMES_OF_CALL, ...NAMES_OF_SETTLEMENT].map((column) => `${column}_name.text AS ${column}_text`).join(', ')}
  FROM call
  JOIN price_list ON price_list.id = call.price_id
  ${NAMES_OF_CALL.map((column) => `JOIN ${nameTable(column)}`).join('\n  ')}
  ${NAMES_OF_SETTLEMENT.map((column) => `LEFT JOIN ${nameTable(column)}`).join('\n  ')}`;

function nameColumns(fields: Fields): string[] {
  return layoutOf(fields).flatMap(({ kind, columns }) => (kind.isName ? columns : []));
}

function nameTable(column: string): string {
  return `name AS ${column}_name ON ${column}_name.id = call.${column}`;
}

const callOf = rowReader(CALL_FIELDS, {});
/** While the hold is open the columns of its settlement are null. */
const settlementOf = rowReader(SETTLEMENT_FIELDS, { ...NOTHING_SETTLED, ended: null, httpStatus: null });

export function receiptOf(row: ReceiptColumns): Receipt {
  return {
    ...callOf(row),
    state: CALL_STATE.word(row.state),
    priceVersion: row.price_version,
    heldNanousd: row.held,
    idempotencyKey: row.idempotency_key,
    endedMs: row.ended_ms === null ? null : Number(row.ended_ms),
    ...settlementOf(row),
  };
}

type RowValues<All extends Fields, Absent> = {
  readonly [Name in keyof All]: ValuesOf<All>[Name] | (Name extends keyof Absent ? Absent[Name] : never);
};

/** Reads these fields of a row; `absent` says what a null stands for, where it is not null itself. */
function rowReader<All extends Fields, Absent extends Readonly<Record<string, unknown>>>(fields: All, absent: Absent) {
  const layouts = layoutOf(fields);
  return (row: ReceiptColumns): RowValues<All, Absent> => {
    const values: Record<string, unknown> = {};
    for (const layout of layouts) values[layout.name] = valueIn(row, layout) ?? absent[layout.name] ?? null;
    return values as RowValues<All, Absent>;
  };
}

function valueIn(row: ReceiptColumns, { kind, members, columns }: FieldLayout): unknown {
  const [first] = columns;
  const cell = row[kind.isName ? `${first}_text` : first!];
  if (cell === null || cell === undefined) return null;
  if (members === null) return kind.ofStored(cell);
  return Object.fromEntries(members.map((member, at) => [member, kind.ofStored(row[columns[at]!]!)]));
}
