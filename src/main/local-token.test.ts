import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLocalToken } from './local-token.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-token-'));
  file = join(folder, 'console.token');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('keeps the token of the data folder over restarts, readable by its owner only', () => {
  const token = openLocalToken(folder);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(openLocalToken(folder)).toBe(token);
});

test.each([
  ['others can read', () => chmodSync(file, 0o644)],
  ['has no token in it', () => writeFileSync(file, 'secret\n')],
  [
    'is a link to another file',
    () => {
      renameSync(file, join(folder, 'elsewhere'));
      symlinkSync(join(folder, 'elsewhere'), file);
    },
  ],
])('replaces a token whose file %s', (_, spoil) => {
  const before = openLocalToken(folder);
  spoil();
  const after = openLocalToken(folder);
  expect(after).not.toBe(before);
  expect(readFileSync(file, 'utf8')).toBe(`${after}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
