import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freeBytes } from './disk-space.ts';

test('a missing folder has no known free space, and that is not an error', async () => {
  expect(await freeBytes(tmpdir())).toBeGreaterThan(0);
  expect(await freeBytes(join(tmpdir(), 'tollgate-none', 'deep'))).toBeNull();
});

test('any other failure is an error, so that nobody believes that the disk is watched', async () => {
  await expect(freeBytes(join(import.meta.filename, 'inside'))).rejects.toThrow('ENOTDIR');
});
