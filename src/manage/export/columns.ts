import { z } from 'zod';
import { stringifyJson } from '../../json/stringify.ts';
import { csvLine, csvText, csvUsd, csvUtc } from '../../operator/csv.ts';
import { MOMENTS } from '../schema-fields.ts';

/** One column of a CSV file: a member of the row, or the same amount in dollars or moment in UTC beside its integer. */
interface Column {
  readonly title: string;
  /** From the row down to the value. */
  readonly path: readonly string[];
  readonly kind: 'text' | 'plain' | 'usd' | 'utc' | 'json';
}

/** The columns of a row's schema, in its order. Objects are taken apart; lists and maps are JSON in one column. */
export function columnsOf(row: z.ZodType, hidden: readonly string[] = []): Column[] {
  return membersOf(row, [])
    .filter(({ path }) => !hidden.includes(path[0]!))
    .flatMap((column) => {
      const title = readableTitle(column);
      return title === null
        ? [column]
        : [
            { ...column, kind: 'plain' as const },
            { ...column, title },
          ];
    });
}

function membersOf(schema: z.ZodType, path: readonly string[]): Column[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, member]) =>
      membersOf(member, [...path, name]),
    );
  return [{ title: path.join('.'), path, kind: kindOf(inner) }];
}

function kindOf(schema: z.ZodType): Column['kind'] {
  if (schema instanceof z.ZodBigInt) return 'usd';
  if (MOMENTS.get(schema) !== undefined) return 'utc';
  if (schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean) return 'plain';
  const isText = schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral;
  return isText ? 'text' : 'json';
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const wraps =
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodReadonly;
  return wraps ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}

/** The title of the column that people and spreadsheets read; null where the only one is readable. */
function readableTitle({ title, kind }: Column): string | null {
  if (kind === 'usd') return `${title.replace(/_nanousd$/, '')}_usd`;
  return kind === 'utc' ? `${title}_utc` : null;
}

export function headLine(columns: readonly Column[]): string {
  return csvLine(columns.map(({ title }) => title));
}

export function rowLine(columns: readonly Column[], row: object): string {
  return csvLine(columns.map((column) => cell(column.kind, valueAt(row, column.path))));
}

function valueAt(row: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], row);
}

function cell(kind: Column['kind'], value: unknown): string {
  if (value === null || value === undefined) return '';
  if (kind === 'usd') return csvUsd(value as bigint);
  if (kind === 'utc') return csvUtc(value as number);
  if (kind === 'json') return stringifyJson(value);
  return kind === 'text' ? csvText(String(value)) : String(value);
}
