import type { SQLInputValue, StatementResultingChanges, StatementSync } from 'node:sqlite';
import type { Fields } from '../../canonical/receipt.ts';
import { type FieldLayout, layoutOf, type StoredFields, type Word } from '../field-kinds.ts';

const PLAIN_NAME = /^[a-z]\w*$/i;

/**
 * Compiles a function from the list of fields, once at start, into code without loops, so that each property access has
 * its own inline cache: a loop over the list took three times as long per call. Only names from the list become part of
 * the code.
 */
function compile<Run>(parameters: string, body: string, layouts: readonly FieldLayout[]): Run {
  for (const { name, members } of layouts) {
    const unsafe = [name, ...(members ?? [])].find((one) => !PLAIN_NAME.test(one));
    if (unsafe !== undefined) throw new Error(`The field "${unsafe}" is not a plain name.`);
  }
  const conversions = layouts.map((_, at) => `const toStored${at} = layouts[${at}].kind.toStored;`);
  const nulls = 'const nulls = layouts.flatMap(({ columns }) => columns.map(() => null));';
  const source = [...conversions, nulls, `return (${parameters}) => {`, body, '};'].join('\n');
  return new Function('layouts', source)(layouts) as Run;
}

/** Each word is written by the method of its name. */
export type WordWriter = { [One in Word]: (value: never) => void } & { nullWord(): void; nullNumber(): void };

/** Compiles a function that writes these fields of an operation. A null is one word, even for a group. */
export function compileWriter<Writer extends WordWriter, Values>(
  fields: Fields,
): (writer: Writer, operation: Values) => void {
  const layouts = layoutOf(fields);
  const lines = layouts.map(({ name, nullable, kind, members }, at) => {
    const write = (value: string) => `writer.${kind.word}(toStored${at}(${value}));`;
    const value = `operation.${name}`;
    const writes = members === null ? write(value) : members.map((member) => write(`${value}.${member}`)).join(' ');
    return nullable ? `if (${value} == null) writer.${NULL_WORDS[kind.word]}(); else { ${writes} }` : writes;
  });
  return compile('writer, operation', lines.join('\n'), layouts);
}

const NULL_WORDS: { readonly [One in Word]: keyof WordWriter } = {
  int64: 'nullWord',
  amount: 'nullWord',
  integer: 'nullNumber',
  text: 'nullNumber',
};

export interface WordReader {
  int64(): bigint;
  nullableInt64(): bigint | null;
  integer(): number;
  nullableInteger(): number | null;
  text(): string;
  nullableText(): string | null;
}

/** Compiles a function that reads what `compileWriter` wrote. */
export function compileReader<All extends Fields>(fields: All): (reader: WordReader) => StoredFields<All> {
  const layouts = layoutOf(fields);
  const values = layouts.map(({ name, nullable, kind, members }) => {
    const next = `reader.${READS[kind.word].plain}()`;
    const first = nullable ? `reader.${READS[kind.word].nullable}()` : next;
    if (members === null) return `${name}: ${first}`;
    const rest = members.slice(1).map(() => next);
    return `${name}: (first = ${first}) === null ? null : [${['first', ...rest].join(', ')}]`;
  });
  return compile('reader', `let first;\nreturn { ${values.join(', ')} };`, layouts);
}

const READS: { readonly [One in Word]: { readonly plain: keyof WordReader; readonly nullable: keyof WordReader } } = {
  int64: { plain: 'int64', nullable: 'nullableInt64' },
  amount: { plain: 'int64', nullable: 'nullableInt64' },
  integer: { plain: 'integer', nullable: 'nullableInteger' },
  text: { plain: 'text', nullable: 'nullableText' },
};

/** Finds the number of a text in the table `name`. */
interface NameIds {
  nameId(text: string): number;
}

/** Compiles a function that appends the cells of these fields, in the order of `columnNames`. */
export function compileCells<All extends Fields>(
  fields: All,
): (cells: SQLInputValue[], stored: StoredFields<All>, names: NameIds) => void {
  const layouts = layoutOf(fields);
  return compile('cells, stored, names', `cells.push(${cellsOf(layouts)});`, layouts);
}

/** Compiles a function that runs a statement with the cells of these fields between two other ones. */
export function compileRun<All extends Fields>(
  fields: All,
): (
  statement: StatementSync,
  first: SQLInputValue,
  stored: StoredFields<All>,
  names: NameIds,
  last: SQLInputValue,
) => StatementResultingChanges {
  const layouts = layoutOf(fields);
  const body = `return statement.run(first, ${cellsOf(layouts)}, last);`;
  return compile('statement, first, stored, names, last', body, layouts);
}

function cellsOf(layouts: readonly FieldLayout[]): string {
  const cells = layouts.flatMap(({ name, kind, members, columns }) => {
    const value = `stored.${name}`;
    if (members !== null) return columns.map((_, at) => `(${value} ?? nulls)[${at}]`);
    return kind.isName ? [`${value} === null ? null : names.nameId(${value})`] : [value];
  });
  return cells.join(', ');
}
