import type { DatabaseSync } from 'node:sqlite';
import { type Program, runNow, type SqlValue } from '../programs/program.ts';

/** Runs a program's statements in this thread. A program that writes is run inside a transaction. */
export function runProgram<Result>(database: DatabaseSync, program: Program<Result>): Result {
  return runNow(program, ({ text, values }) => database.prepare(text).all(...values.map(cellOf)));
}

/** The column's type decides how a number is stored, and INTEGER wants whole ones. */
function cellOf(value: SqlValue): Exclude<SqlValue, number> {
  return typeof value === 'number' ? BigInt(value) : value;
}
