import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './campaigns/process-environment.ts';
import { keepFilesInMemory } from './test/memory-folder.ts';
import { quickTestFiles } from './test/quick-files.ts';
import { QUICK_VARIABLE } from './test/random-cases.ts';
import { SlowestFirst } from './test/slowest-first.ts';

// Inherited by the processes that run tests: otherwise every thread they start compiles its sources again, for a third of a second.
process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;
keepFilesInMemory();
const onlyQuick = /--project[= ]quick/.test(process.argv.join(' '));
if (onlyQuick) process.env[QUICK_VARIABLE] = 'yes';

const THREADS = ['test/built-threads.ts'];
const FILL = ['test/compile-cache-setup.ts'];
const quick = quickTestFiles();
// Saves a tenth of the CPU time of long test files: with more room, more objects are garbage before they have to be copied.
const LARGE_YOUNG_GENERATION = ['--max-semi-space-size=64'];
// Saves a sixth for quick tests: V8 would begin with a small heap and collect it again and again while it grows.
const LARGE_FIRST_HEAP = [...LARGE_YOUNG_GENERATION, '--min-semi-space-size=64', '--initial-old-space-size=512'];
// Only what hangs waits this long: on a machine whose cores are mostly taken by others, a test of seconds needs a minute.
const PATIENCE_MS = 600_000;
// By default one core stays idle, which is half of a small machine. One process more than there are cores, because slow tests wait for
// processes and for time; with as many, a quarter of two cores was idle. Quick tests wait for nothing, and each process loads all modules.
const WORKERS = availableParallelism() + (onlyQuick ? 0 : 1);
// By default every file gets a process of its own, which is half of what most of them cost: they share nothing but modules.
const shared = {
  ...{ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS, expect: { poll: { timeout: PATIENCE_MS / 2 } } },
  ...{ pool: 'forks', maxWorkers: WORKERS, isolate: false },
  execArgv: LARGE_YOUNG_GENERATION,
} as const;

// Vite would transform the runner as well, and then load every file for it.
const native = { runner: 'test/native-runner.ts', server: { deps: { external: [/\/test\/native-runner\.ts$/] } } };

// Packages are tested from their sources, so that nothing needs to be built first.
const sourceOf = (name: string, file = 'index.ts'): string => join(import.meta.dirname, 'packages', name, 'src', file);
// The longer names come first, because the shorter one is their beginning.
const resolve = {
  alias: {
    '@tollgate/client/verify': sourceOf('client', 'verify.ts'),
    '@tollgate/client/webhooks': sourceOf('client', 'webhooks.ts'),
    '@tollgate/client': sourceOf('client'),
    '@tollgate/ai-sdk': sourceOf('ai-sdk'),
  },
};

export default defineConfig({
  test: {
    reporters: ['default'],
    maxWorkers: WORKERS,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        resolve,
        test: {
          ...shared,
          ...native,
          execArgv: LARGE_FIRST_HEAP,
          name: 'quick',
          include: quick,
          setupFiles: THREADS,
          globalSetup: FILL,
        },
      },
      {
        resolve,
        test: {
          ...shared,
          name: 'slow',
          include: [
            'src/**/*.test.ts',
            'test/**/*.test.ts',
            'console/test/smoke.test.ts',
            'packages/*/test/**/*.test.ts',
          ],
          exclude: quick,
          setupFiles: THREADS,
          globalSetup: [...FILL, 'test/programs-setup.ts', 'test/postgres-setup.ts'],
        },
      },
    ],
  },
});
