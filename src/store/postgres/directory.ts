import type { Directory } from '../directory.ts';
import type { JobStore } from '../jobs.ts';
import { directoryOver, programOf } from '../programs/directory-programs.ts';
import { jobProgramOf, jobsOver } from '../programs/job-programs.ts';
import { type Program, type Query, runLater, SKIP_LOCKED, type SqlValue } from '../programs/program.ts';
import type { Connections, RunSql } from './connections.ts';
import { BEGIN_BRIEF, lockAccount, takeLock } from './locks.ts';
import type { Statement } from './pipeline.ts';
import { storable, withEscapes } from './values.ts';

export function postgresDirectory(connections: Connections): Directory {
  return directoryOver({
    read: (name, args) => readProgram(connections, programOf(name, args)),
    change: (name, args) => connections.transaction((sql) => runProgram(sql, programOf(name, args)), BEGIN_BRIEF),
  });
}

export function postgresJobs(connections: Connections): JobStore {
  return jobsOver({
    read: (name, args) => readProgram(connections, jobProgramOf(name, args)),
    change: (name, args) => connections.transaction((sql) => runProgram(sql, jobProgramOf(name, args)), BEGIN_BRIEF),
  });
}

/** Runs a program that only reads, without a transaction. */
export function readProgram<Result>(
  connections: Pick<Connections, 'query'>,
  program: Program<Result>,
): Promise<Result> {
  return runLater(program, (step) =>
    'lock' in step ? Promise.resolve([]) : connections.query(numbered(step), cellsOf(step)),
  );
}

/** Runs a program's statements inside a transaction. */
export function runProgram<Result>(sql: RunSql, program: Program<Result>): Promise<Result> {
  return runLater(program, async (step) => {
    if (!('lock' in step)) return sql(numbered(step), cellsOf(step));
    if (step.lock === 'account') await lockAccount(sql, step.id);
    else await takeLock(sql, step.lock);
    return [];
  });
}

/** A statement of a program, to be sent with those of a batch. */
export function statementOf(query: Query): Statement {
  return { text: numbered(query), values: cellsOf(query) };
}

/** PostgreSQL numbers its parameters. No statement of a program contains a question mark of another kind. */
function numbered({ text }: Query): string {
  let count = 0;
  const onPostgres = withEscapes(text.replace(SKIP_LOCKED, 'FOR UPDATE SKIP LOCKED'));
  return onPostgres.replaceAll('?', () => `$${++count}`);
}

function cellsOf({ values }: Query): SqlValue[] {
  return values.map((value) => (typeof value === 'string' ? storable(value) : value));
}
