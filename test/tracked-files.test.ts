import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './tidy/paths.ts';

// An unpacked archive is no clone, and git lists nothing there.
test.skipIf(!existsSync(join(ROOT, '.git')))('git tracks no symbolic link, which would lead nowhere elsewhere', () => {
  const tracked = execFileSync('git', ['ls-files', '--stage'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  expect(tracked.length).toBeGreaterThan(1);
  expect(tracked.filter((line) => line.startsWith('120000 '))).toEqual([]);
});
