import { expect, test } from 'vitest';
import { SLOWEST_FILES } from './slowest-files.ts';
import { pathsUnder } from './tidy/paths.ts';

test('names only files that are there', () => {
  const paths = ['src', 'test'].flatMap(pathsUnder);
  expect(SLOWEST_FILES.filter((path) => !paths.includes(path))).toEqual([]);
});
