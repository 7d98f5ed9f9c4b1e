import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-folder-'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('a folder', () => {
  test('is made with those that it is in, for its owner only, and the first of them is returned', () => {
    expect(makeFolder(join(root, 'a', 'b', 'c'))).toBe(join(root, 'a'));
    for (const path of ['a', 'a/b', 'a/b/c']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
    expect(makeFolder(join(root, 'a', 'b', 'c'))).toBeUndefined();
    expect(makeFolder(join(root, 'a', 'd'))).toBe(join(root, 'a', 'd'));
  });

  test('may be reached by a symbolic link, and its path may end with a slash', () => {
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    expect(makeFolder(join(root, 'link'))).toBeUndefined();
    makeFolder(`${join(root, 'link', 'x')}/`);
    expect(statSync(join(root, 'real', 'x')).isDirectory()).toBe(true);
  });

  test('is refused where a file is, or is in the way', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file'))).toThrow('EEXIST');
    expect(() => makeFolder(join(root, 'file', 'x'))).toThrow('ENOTDIR');
  });

  test.skipIf(process.platform !== 'linux')(
    'is refused where the system makes none, although its parent exists',
    () => {
      expect(() => makeFolder('/proc/tollgate-none')).toThrow('ENOENT');
      expect(() => makeFolder('/proc/tollgate-none/deep')).toThrow('ENOENT');
    },
  );
});
