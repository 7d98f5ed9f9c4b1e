import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * The folder in which a run of the tests has put each program and all that it imports into a few files, which load in half
 * the time of the sources; null: programs run from the sources.
 */
const BUILT = process.env.TOLLGATE_TEST_PROGRAMS ?? null;

/** Programs of tests and campaigns that run in a process of their own, beside the command itself. */
export const PROGRAMS = [
  'campaigns/archive/victim.ts',
  'campaigns/http/gateway.ts',
  'campaigns/jobs/victim.ts',
  'campaigns/ledger/worker.ts',
  'test/store-crash.ts',
] as const;

type Program = (typeof PROGRAMS)[number];

/** The script of the command `tollgate`. */
export const BIN = join(BUILT ?? ROOT, 'bin', 'tollgate.js');

/** The script of such a program. */
export function scriptOf(program: Program): string {
  return BUILT === null ? join(ROOT, program) : join(BUILT, 'dist', `${builtName(program)}.js`);
}

/** Where it is built, without the extension: beside the threads that it starts. */
export function builtName(program: Program): string {
  return `main/${program.replace(/\.ts$/, '').replaceAll('/', '-')}`;
}
