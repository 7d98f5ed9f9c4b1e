import { describe, expect, test } from 'vitest';
import { isForegroundOfNpm } from './started-by-npm.ts';

describe('a gateway follows the shell of npm', () => {
  test.each([
    'node bin/tollgate.js serve',
    "'tollgate'",
    'npm run build && tollgate serve',
    'tollgate serve > gateway.log 2>&1',
  ])('in the script %s', (script) => {
    expect(isForegroundOfNpm({ npm_lifecycle_script: script })).toBe(true);
  });

  test.each(['tollgate serve &', 'tollgate serve & echo started'])(
    'but not in %s, which leaves it running',
    (script) => {
      expect(isForegroundOfNpm({ npm_lifecycle_script: script })).toBe(false);
    },
  );

  test('and not without npm: a shell that ends leaves its commands running', () => {
    expect(isForegroundOfNpm({})).toBe(false);
  });
});
