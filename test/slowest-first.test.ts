import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { SLOWEST_FILES } from './slowest-first.ts';
import { pathsUnder } from './tidy/paths.ts';

test('names only files that are there', () => {
  const names = ['src', 'test'].flatMap((folder) => pathsUnder(folder)).map((path) => basename(path));
  expect(SLOWEST_FILES.filter((name) => !names.includes(name))).toEqual([]);
});
