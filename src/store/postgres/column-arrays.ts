import type { Fields, ValuesOf } from '../../canonical/receipt.ts';
import { layoutOf, type StoredValue } from '../field-kinds.ts';
import type { NameId } from './dictionary.ts';
import { numbers, storable, texts } from './values.ts';

/** One column of many rows, as an array that a statement unnests. */
export interface ColumnArray<Row = never> {
  readonly column: string;
  /** Narrower columns take an int8 by assignment. */
  readonly type: 'int8' | 'text';
  array(rows: readonly Row[], nameId: NameId): string;
}

/** The columns of these fields, in the order of `columnNames`. */
export function columnArrays<All extends Fields>(fields: All): ColumnArray<Partial<ValuesOf<All>>>[] {
  type Row = Partial<ValuesOf<All>>;
  return layoutOf(fields).flatMap(({ name, kind, members, columns }) =>
    columns.map((column, at): ColumnArray<Row> => {
      const valueIn = members === null ? (row: Row) => row[name] : (row: Row) => memberOf(row[name], members[at]!);
      const stored = (row: Row): StoredValue | null => {
        const value = valueIn(row);
        return value === null || value === undefined ? null : kind.toStored(value);
      };
      if (kind.isName) {
        const id = (text: StoredValue | null, nameId: NameId) => (text === null ? null : nameId(text as string));
        return { column, type: 'int8', array: (rows, nameId) => numbers(rows.map((row) => id(stored(row), nameId))) };
      }
      if (kind.word !== 'text') {
        return { column, type: 'int8', array: (rows) => numbers(rows.map(stored) as (bigint | number | null)[]) };
      }
      const text = (value: StoredValue | null) => (value === null ? null : storable(value as string));
      return { column, type: 'text', array: (rows) => texts(rows.map((row) => text(stored(row)))) };
    }),
  );
}

function memberOf(group: unknown, member: string): unknown {
  return (group as Readonly<Record<string, unknown>> | null)?.[member];
}
