import type { FieldKind, Fields, FieldValues } from '../canonical/receipt.ts';
import { parseJson } from '../json/json.ts';
import { type Codes, ENDED, USAGE_SOURCE } from './codes.ts';

/** A value as a column holds it. A database gives every number back as a bigint, so that none is ever rounded. */
export type StoredValue = bigint | number | string;

/** How a value travels to SQLite's writer thread. An `amount` is an int64 that is clamped instead of refused. */
export type Word = 'int64' | 'amount' | 'integer' | 'text';

/** How one column stores a kind of field. */
interface ColumnKind<Value, Stored extends StoredValue = StoredValue> {
  readonly word: Word;
  /** A text that the row stores as its number in the table `name`. */
  readonly isName: boolean;
  /** The words that the row stores as numbers. */
  readonly words?: Readonly<Record<string, bigint>>;
  toStored(value: Value): Stored;
  ofStored(stored: StoredValue): Value;
}

const INT64 = {
  word: 'int64',
  isName: false,
  toStored: (value: bigint) => value,
  ofStored: (stored: StoredValue) => stored as bigint,
} as const;

const INTEGER = {
  word: 'integer',
  isName: false,
  toStored: (value: number) => value,
  ofStored: (stored: StoredValue) => Number(stored),
} as const;

const TEXT = {
  word: 'text',
  isName: false,
  toStored: (value: string) => value,
  ofStored: (stored: StoredValue) => stored as string,
} as const;

const FLAG = {
  ...INTEGER,
  words: { false: 0n, true: 1n },
  toStored: (value: boolean): number => (value ? 1 : 0),
  ofStored: (stored: StoredValue) => stored === 1n,
};

function json<Value>() {
  return {
    ...TEXT,
    toStored: (value: Value) => JSON.stringify(value),
    ofStored: (stored: StoredValue) => parseJson(stored as string) as Value,
  };
}

function coded<One extends string>(codes: Codes<One>) {
  const numbers = Object.fromEntries(Object.entries<bigint>(codes.of).map(([word, code]) => [word, Number(code)]));
  return {
    ...INTEGER,
    words: codes.of,
    toStored: (word: One): number => numbers[word]!,
    ofStored: (stored: StoredValue) => codes.word(stored as bigint),
  };
}

type GroupName = 'usage' | 'components';

const COLUMN_KINDS = {
  int64: INT64,
  amount: { ...INT64, word: 'amount' },
  integer: INTEGER,
  flag: FLAG,
  text: TEXT,
  name: { ...TEXT, isName: true },
  labels: json<FieldValues['labels']>(),
  tries: json<FieldValues['tries']>(),
  ended: coded(ENDED),
  usageSource: coded(USAGE_SOURCE),
} as const satisfies { readonly [Kind in Exclude<FieldKind, GroupName>]: ColumnKind<FieldValues[Kind]> };

/** Fields of several columns, which are all null or all hold a value. The object's keys are the members. */
const GROUP_KINDS = {
  usage: {
    of: INTEGER,
    members: {
      freshTokens: true,
      cacheReadTokens: true,
      cacheWriteTokens: true,
      cacheWrite1hTokens: true,
      outputTokens: true,
      reasoningTokens: true,
    },
  },
  components: {
    of: COLUMN_KINDS.amount,
    members: { freshNanousd: true, cacheWriteNanousd: true, cacheReadNanousd: true, outputNanousd: true },
  },
} as const satisfies { readonly [Kind in GroupName]: GroupKind<FieldValues[Kind]> };

interface GroupKind<Value> {
  readonly of: ColumnKind<Value[keyof Value]>;
  readonly members: Readonly<Record<keyof Value, true>>;
}

type StoredOf<Kind extends FieldKind> = Kind extends GroupName
  ? readonly ReturnType<(typeof GROUP_KINDS)[Kind]['of']['toStored']>[]
  : Kind extends keyof typeof COLUMN_KINDS
    ? ReturnType<(typeof COLUMN_KINDS)[Kind]['toStored']>
    : never;

/** Fields as they are stored: words and flags are numbers, a group is a list. */
export type StoredFields<All extends Fields> = {
  readonly [Name in keyof All]:
    | StoredOf<All[Name]['kind']>
    | (All[Name] extends { readonly nullable: true } ? null : never);
};

/** A field, how its columns store it, and what they are called. */
export interface FieldLayout {
  readonly name: string;
  readonly nullable: boolean;
  readonly kind: ColumnKind<unknown>;
  /** The names of a group's members, in the order of its columns; null for a field that is one column. */
  readonly members: readonly string[] | null;
  readonly columns: readonly string[];
}

export function layoutOf(fields: Fields): FieldLayout[] {
  return Object.entries(fields).map(([name, { kind, nullable }]) => {
    if (!isGroup(kind)) return { name, nullable, kind: COLUMN_KINDS[kind], members: null, columns: [columnName(name)] };
    const { of, members } = GROUP_KINDS[kind];
    const names = Object.keys(members);
    return { name, nullable, kind: of, members: names, columns: names.map(columnName) };
  });
}

export function columnNames(fields: Fields): string[] {
  return layoutOf(fields).flatMap(({ columns }) => columns);
}

function isGroup(kind: FieldKind): kind is GroupName {
  return kind in GROUP_KINDS;
}

/** `cacheWrite1hTokens` is stored in `cache_write_1h_tokens`, and `costNanousd` in `cost`: amounts are nanodollars. */
function columnName(name: string): string {
  return name.replace(/Nanousd$/, '').replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
}
