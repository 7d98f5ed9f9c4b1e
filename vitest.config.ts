import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { quickTestFiles } from './test/quick-files.ts';
import { SlowestFirst } from './test/slowest-first.ts';

// Inherited by the processes that run tests: otherwise every thread they start compiles its sources again, for a third of a second.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'tollgate');

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
      { test: { ...shared, name: 'quick', isolate: false, include: quick } },
      {
        test: {
          ...shared,
          name: 'slow',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: quick,
          globalSetup: ['test/postgres-setup.ts'],
        },
      },
    ],
  },
});
