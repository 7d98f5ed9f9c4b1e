import type { JobStore } from '../jobs.ts';
import { jobProgramOf, jobsOver, LONG_JOB_READS } from '../programs/job-programs.ts';
import { runProgram } from './directory.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import type { StatementCache } from './statement-cache.ts';
import type { WriterVerbs } from './writer-verbs.ts';

/**
 * Jobs, over a connection that reads, the thread for long reads, and the store's writer. `read` turns a fault of the disk into
 * an error for callers.
 */
export function sqliteJobs(
  statements: StatementCache,
  writer: Pick<Link<WriterVerbs>, 'call'>,
  read: <Result>(run: () => Result) => Promise<Result>,
  scan: Link<Pick<ScannerVerbs, 'readJobs'>>['call'],
): JobStore {
  let last: Promise<unknown> = Promise.resolve();
  return jobsOver({
    read: (name, args) =>
      LONG_JOB_READS.has(name)
        ? scan('readJobs', name, args)
        : read(() => runProgram(statements, jobProgramOf(name, args))),
    // One at a time, so that a commit of calls never waits for more than one of them.
    change: (name, args) => {
      const change = last.then(() => writer.call('changeJobs', name, args));
      last = change.catch(() => undefined);
      return change;
    },
  });
}
