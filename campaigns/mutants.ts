import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { readFlags, refuseFlag } from '../test/read-flags.ts';
import { ALL_MUTANTS } from './mutants/all.ts';
import type { Mutant } from './mutants/seeds.ts';

/** Breaks the code on purpose, one fault at a time, in a copy. The tests named for each fault must fail. */

const ROOT = resolve(import.meta.dirname, '..');
/**
 * Tests reach into every folder, so the copy has everything but what is linked instead and what no test reads. The socket of
 * a gateway that runs in this checkout cannot be copied.
 */
const LEFT_OUT = ['node_modules', '.git', '.tollgate'].map((name) => join(ROOT, name));

interface Verdict {
  readonly mutant: Mutant;
  readonly killed: boolean;
  /** Names of the tests that failed. */
  readonly by: readonly string[];
}

function main(): number {
  const { values } = readFlags({
    options: { only: { type: 'string', default: '' }, part: { type: 'string', default: '1/1' } },
  });
  const selected = ALL_MUTANTS.filter(({ name }) => name.includes(values.only));
  const mutants = partOf(selected, values.part);
  if (mutants.length === 0)
    refuseFlag(`--only and --part select none of the ${ALL_MUTANTS.length} bugs; a part is written like 2/3.`);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-mutants-'));
  try {
    cpSync(ROOT, folder, { recursive: true, filter: (source) => !LEFT_OUT.includes(source) });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const complaint = complaintAboutUnbroken(folder, mutants);
    if (complaint !== null) return fail(`${complaint} Nothing can be learned from mutants.`);
    const verdicts = mutants.map((mutant) => tryMutant(folder, mutant));
    const survivors = verdicts.filter(({ killed }) => !killed);
    process.stdout.write(`${verdicts.length - survivors.length} of ${verdicts.length} mutants killed\n`);
    return survivors.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The second of three parts is `2/3`, so that several machines, or checkouts, can share the work. */
function partOf(mutants: readonly Mutant[], written: string): readonly Mutant[] {
  const [part = 0, parts = 0] = /^\d+\/\d+$/.test(written) ? written.split('/').map(Number) : [];
  const boundary = (at: number): number => Math.round((mutants.length * at) / parts);
  return part >= 1 && part <= parts ? mutants.slice(boundary(part - 1), boundary(part)) : [];
}

/**
 * Null if the tests pass on the unchanged code; only then does a failing test mean anything. Files that fail together with
 * all others get a second try alone: a machine with other work may be too slow for their limits.
 */
function complaintAboutUnbroken(folder: string, mutants: readonly Mutant[]): string | null {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  const first = runTests(folder, { tests, msMax: UNBROKEN_RUN_MS_MAX });
  const again = first.failedFiles.map((file) => relative(folder, file));
  if (again.length > 0) process.stdout.write(`again    ${again.join(' ')}\n`);
  const { failed, ended } = again.length === 0 ? first : runTests(folder, { tests: again, msMax: UNBROKEN_RUN_MS_MAX });
  if (!ended) return `The tests did not end within ${UNBROKEN_RUN_MS_MAX / 60_000} minutes on the code as it is.`;
  return failed.length === 0 ? null : `Tests fail on the code as it is:\n${failed.join('\n')}\n`;
}

function tryMutant(folder: string, mutant: Mutant): Verdict {
  const originals = new Map<string, string>();
  for (const { file, find, replace } of mutant.changes) {
    const text = readFileSync(join(folder, file), 'utf8');
    if (text.split(find).length !== 2)
      throw new Error(`${mutant.name}: ${file} must contain the text to replace exactly once.`);
    if (!originals.has(file)) originals.set(file, text);
    writeFileSync(
      join(folder, file),
      text.replace(find, () => replace),
    );
  }
  const { tests, named } = mutant;
  const { failed, ended } = runTests(folder, { tests, named, msMax: TEST_RUN_MS_MAX, isKilledByOne: true });
  for (const [file, text] of originals) writeFileSync(join(folder, file), text);
  const killed = failed.length > 0 || !ended;
  process.stdout.write(`${killed ? 'killed  ' : 'SURVIVED'}  ${mutant.name}\n`);
  for (const name of failed.slice(0, 3)) process.stdout.write(`            by ${name}\n`);
  return { mutant, killed, by: failed };
}

interface TestRun {
  readonly failed: readonly string[];
  readonly failedFiles: readonly string[];
  /** False if the run was cut off: a mutant may hang instead of failing. */
  readonly ended: boolean;
}

/** Three times what the longest test takes on a slow machine: with less time it would fail, and kill bugs that it does not notice. */
const TEST_MS_MAX = 60_000;
const TEST_RUN_MS_MAX = 300_000;
/** All the tests that any mutant names are most of the suite. */
const UNBROKEN_RUN_MS_MAX = 1_800_000;

interface TestTerms {
  readonly tests: readonly string[];
  /** Only tests whose names contain it. */
  readonly named?: string | undefined;
  readonly msMax: number;
  /** The first test that fails ends the run. */
  readonly isKilledByOne?: boolean;
}

function runTests(folder: string, { tests, named = '', msMax, isKilledByOne = false }: TestTerms): TestRun {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const args = [
    vitest,
    'run',
    ...tests,
    '--reporter=json',
    `--outputFile=${report}`,
    `--testTimeout=${TEST_MS_MAX}`,
    ...(named === '' ? [] : ['-t', named]),
    ...(isKilledByOne ? ['--bail=1'] : []),
  ];
  spawnSync(process.execPath, args, { cwd: folder, timeout: msMax, stdio: 'ignore' });
  return readReport(report);
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function readReport(report: string): TestRun {
  let text: string;
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    return { failed: [], failedFiles: [], ended: false };
  }
  const { testResults } = JSON.parse(text) as Report;
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((result) => result.status === 'failed').map(({ fullName }) => fullName);
    return tests.length === 0 && status === 'failed' ? [`${name} as a whole`] : tests;
  });
  const failedFiles = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return { failed, failedFiles, ended: true };
}

function fail(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}

process.exitCode = main();
