import { expect, test } from 'vitest';
import { descriptorLimit } from './descriptors.ts';

const HEAD = 'Limit                     Soft Limit           Hard Limit           Units\n';

test('reads the soft limit of open files', () => {
  expect(
    descriptorLimit(() => `${HEAD}Max open files            256                  4096                 files\n`),
  ).toBe(256);
  expect(
    descriptorLimit(() => `${HEAD}Max open files            unlimited            unlimited            files\n`),
  ).toBe(Number.MAX_SAFE_INTEGER);
});

test('says null where the limit cannot be read', () => {
  expect(descriptorLimit(() => HEAD)).toBeNull();
  expect(
    descriptorLimit(() => {
      throw new Error('ENOENT');
    }),
  ).toBeNull();
});
