import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './campaigns/process-environment.ts';
import { quickTestFiles } from './test/quick-files.ts';
import { SlowestFirst } from './test/slowest-first.ts';

// Inherited by the processes that run tests: otherwise every thread they start compiles its sources again, for a third of a second.
process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;

const FILL = ['test/compile-cache-setup.ts'];
const quick = quickTestFiles();
// The default leaves one core idle, which is half of a small machine.
const shared = { testTimeout: 30_000, hookTimeout: 30_000, pool: 'forks', maxWorkers: '100%' } as const;

export default defineConfig({
  test: {
    reporters: ['default'],
    maxWorkers: '100%',
    sequence: { sequencer: SlowestFirst },
    projects: [
      // Isolation is most of what a quick file costs, and these tests share nothing but modules.
      { test: { ...shared, name: 'quick', isolate: false, include: quick, globalSetup: FILL } },
      {
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
          globalSetup: [...FILL, 'test/postgres-setup.ts'],
        },
      },
    ],
  },
});
