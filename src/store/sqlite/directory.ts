import type { DatabaseSync } from 'node:sqlite';
import { type Program, runNow, type SqlValue } from '../programs/program.ts';

/** Runs a program's statements in this thread. A program that writes is run inside a transaction. */
export function runProgram<Result>(
  database: Pick<DatabaseSync, 'prepare'>,
  program: Program<Result>,
  beforeStatement: (text: string) => void = () => undefined,
): Result {
  return runNow(program, ({ text, values }) => {
    beforeStatement(text);
    return database.prepare(text).all(...values.map(cellOf));
  });
}

/** The table that a statement writes; null if it only reads. An unusual statement writes `unknown`. */
export function writtenTable(text: string): string | null {
  if (/^\s*SELECT\b/i.test(text)) return null;
  return /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/i.exec(text)?.[1] ?? 'unknown';
}

/** The column's type decides how a number is stored, and INTEGER wants whole ones. */
function cellOf(value: SqlValue): Exclude<SqlValue, number> {
  return typeof value === 'number' ? BigInt(value) : value;
}
