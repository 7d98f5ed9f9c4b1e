import { defineConfig } from 'vitest/config';

/** Everything about the console that needs a browser. `npm test` runs only the smoke test of it. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/build-setup.ts'],
  },
});
