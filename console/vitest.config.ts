import { defineConfig } from 'vitest/config';

/** Everything about the console that needs a browser. `npm test` runs only the smoke test of it. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A page that is slow to draw on a busy machine is not a fault, and vitest waits only a second by itself.
    expect: { poll: { timeout: 60_000 } },
    // A browser can lose a page to a busy machine. What fails twice is a fault, and a second try is printed.
    retry: 1,
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/build-setup.ts'],
  },
});
