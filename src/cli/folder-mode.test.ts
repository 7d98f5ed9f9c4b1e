import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeOpenFolder } from './folder-mode.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate it's-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([0o777, 0o702, 0o770, 0o720])('names a folder of mode %o and the command that closes it', (mode) => {
  chmodSync(folder, mode);
  expect(describeOpenFolder(folder)).toEqual({
    problem: `Other users can write to the data folder ${folder} (mode ${mode.toString(8)})`,
    remedy: `chmod go-w '${folder.replace("'", "'\\''")}'`,
  });
});

test.each([0o700, 0o755, 0o750])('accepts mode %o, which others cannot write to', (mode) => {
  chmodSync(folder, mode);
  expect(describeOpenFolder(folder)).toBeNull();
});

test('accepts a folder that does not exist yet', () => {
  expect(describeOpenFolder(join(folder, 'new'))).toBeNull();
});

test('leaves a folder that cannot be reached to whoever opens it', () => {
  symlinkSync('loop', join(folder, 'loop'));
  expect(describeOpenFolder(join(folder, 'loop', 'data'))).toBeNull();
});
