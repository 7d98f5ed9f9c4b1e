import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../kit/clock.ts';
import { StoreRefused } from '../store.ts';
import { describeFault, refusingFaults } from './faults.ts';
import { lockFolder } from './lock.ts';
import { openSqliteStore } from './sqlite-store.ts';

const ONE_SENTENCE = /^[A-Z][^\n]*\.$/;

test.each([
  ['a read-only disk', { code: 'EROFS', path: '/data/x' }, 'read-only'],
  ['a folder of another user', { code: 'EACCES', path: '/data/x' }, '/data/x'],
  ['a full disk', { code: 'ENOSPC', path: '/data/x' }, 'full'],
  ['a disk that is full when an open file is written', { code: 'ENOSPC', syscall: 'write' }, 'disk is full (ENOSPC)'],
  ['a listener without a descriptor', { code: 'EMFILE', syscall: 'listen' }, 'ulimit -n'],
  ['a file that may not grow', { code: 'EFBIG', syscall: 'write' }, 'ulimit -f'],
  ['a database that may not be written', { errcode: 8 }, 'all files in it writable'],
  ['a directory that may not be written', { errcode: 8 | (6 << 8) }, 'cannot be written'],
  ['a disk that fails', { errcode: 10 | (3 << 8) }, 'check the disk'],
  ['a damaged database', { errcode: 11 }, 'tollgate store restore FILE'],
  ['a database without a table', { errcode: 1, message: 'no such table: call' }, 'damaged (no such table: call)'],
  ['a database without its version', { errcode: 1, message: 'table call already exists' }, 'damaged (table call'],
])('%s is described in one sentence', (_, fields, words) => {
  const sentence = describeFault(Object.assign(new Error('x'), fields));
  expect(sentence).toMatch(ONE_SENTENCE);
  expect(sentence).toContain(words);
});

test('an error of the program itself is not blamed on the disk', async () => {
  expect(describeFault(new TypeError('x is not a function'))).toBeNull();
  expect(describeFault(Object.assign(new Error('SQL logic error'), { errcode: 1 }))).toBeNull();
  expect(describeFault(Object.assign(new Error('listen EACCES'), { code: 'EACCES', syscall: 'listen' }))).toBeNull();
  await expect(refusingFaults('/data', () => Promise.reject(new TypeError('bug')))).rejects.toThrow(TypeError);
});

describe('opening a data folder', () => {
  let home: string;
  let folder: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'tollgate-faults-'));
    folder = join(home, 'data');
  });

  afterEach(() => rmSync(home, { recursive: true }));

  const open = () =>
    refusingFaults(folder, async () => {
      const lock = lockFolder(folder, { pid: 1, url: null, socketPath: null, startedMs: 0 });
      try {
        return await openSqliteStore({ folder, clock: systemClock, threads: false });
      } finally {
        if ('release' in lock) lock.release();
      }
    });

  test.each([
    ['that is a file', () => writeFileSync(folder, 'x'), 'file where a folder should be'],
    [
      'below a file',
      () => {
        writeFileSync(join(home, 'file'), 'x');
        folder = join(home, 'file', 'data');
      },
      'not a folder',
    ],
    [
      'with text for a database',
      () => {
        mkdirSync(folder);
        writeFileSync(
          join(folder, 'tollgate.sqlite'),
          'a letter to a friend, of some length and no structure '.repeat(100),
        );
      },
      'is not a database',
    ],
    [
      'with a folder for a database',
      () => mkdirSync(join(folder, 'tollgate.sqlite'), { recursive: true }),
      'check the disk',
    ],
    [
      'with text for a lock',
      () => {
        mkdirSync(folder);
        writeFileSync(
          join(folder, 'lock.sqlite'),
          'a letter to a friend, of some length and no structure '.repeat(100),
        );
      },
      'lock file',
    ],
  ])('%s is refused in one sentence that names it', async (_, make, words) => {
    make();
    const error = await open().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StoreRefused);
    expect((error as Error).message).toContain(words);
    expect((error as Error).message).toContain(folder);
    expect((error as Error).message).not.toContain('\n');
  });
});
