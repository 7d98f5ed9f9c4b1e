import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: readonly string[]): Mutant {
  return { name, changes: [{ file, find, replace }], tests };
}

const STORE = 'test/store.test.ts';
const POSTGRES = 'test/store-postgres.test.ts';
const RULES = 'src/store/rules/job-rules.ts';

/** Faults in the accounting of deferred jobs. */
export const JOB_MUTANTS: readonly Mutant[] = [
  mutant(
    'calls that spend what is reserved for jobs, on SQLite',
    'src/store/sqlite/hold-checks.ts',
    '  const taken = balance.held + balance.reserved;',
    '  const taken = balance.held;',
    STORE,
  ),
  mutant(
    'calls that spend what is reserved for jobs, on PostgreSQL',
    'src/store/rules/money-rules.ts',
    'const available = balanceNanousd - heldNanousd - reservedNanousd;',
    'const available = balanceNanousd - heldNanousd;',
    POSTGRES,
  ),
  mutant(
    'a debit of what is reserved for jobs',
    'src/store/sqlite/operations.ts',
    'const left = balance - row.held - row.reserved;',
    'const left = balance - row.held;',
    STORE,
  ),
  mutant(
    'a cap that does not count what is reserved',
    'src/store/sqlite/hold-checks.ts',
    'const left = cap - spent - held - reserved;',
    'const left = cap - spent - held;',
    STORE,
  ),
  mutant(
    'a job that two processes start',
    RULES,
    "if (job === undefined || job.state !== 'queued' || job.claim !== start.claim) return 'not_claimed';",
    "if (job === undefined || job.state !== 'queued') return 'not_claimed';",
    STORE,
  ),
  mutant(
    'a job that starts after its latest start',
    RULES,
    "  if (job.expiresMs <= nowMs) return 'expired';\n",
    '',
    STORE,
  ),
  mutant(
    'a start that keeps the reservation',
    'src/store/sqlite/job-operations.ts',
    '    this.#cache.reserve(balance, windows, -amount);\n',
    '',
    STORE,
  ),
  mutant(
    'a returned attempt that loses its reservation',
    'src/store/sqlite/job-operations.ts',
    '    if (goesBack(parts.job, ending)) this.#cache.reserve(',
    '    if (parts.job.attempts < 0) this.#cache.reserve(',
    STORE,
  ),
  mutant(
    'a job of a dead process that runs again unasked',
    RULES,
    "const isRetried = job.state === 'running' && job.onUnknown === 'retry';",
    "const isRetried = job.state === 'running';",
    STORE,
  ),
  mutant(
    'a cancelled job that goes back to the queue',
    RULES,
    "return end === 'queued' && costNanousd === 0n && job.state !== 'cancelling';",
    "return end === 'queued' && costNanousd === 0n;",
    STORE,
  ),
  mutant(
    'a started line that stays in the reservation of its group',
    RULES,
    '  if (group !== null) group.reservedNanousd -= job.reservedNanousd;\n}\n\ninterface Ending',
    '}\n\ninterface Ending',
    STORE,
  ),
  mutant(
    'an idempotency key that a submission does not look at',
    'src/store/sqlite/job-operations.ts',
    '    if (repeat !== null) return repeat;\n',
    '',
    STORE,
  ),
  mutant(
    'reservations that nobody compares with the jobs',
    'src/store/programs/job-check.ts',
    'WHERE balance.reserved <> coalesce(jobs.reserved, 0) LIMIT ?',
    'WHERE balance.reserved < 0 LIMIT ?',
    'test/store-jobs.test.ts',
  ),
  mutant(
    'restored books whose jobs run again by themselves',
    'src/store/sqlite/instances.ts',
    '  runProgram(database, pauseAll());\n',
    '',
    'test/store-jobs.test.ts',
  ),
];
