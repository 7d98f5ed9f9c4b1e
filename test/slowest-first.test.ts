import { expect, test } from 'vitest';
import { quickTestFiles } from './quick-files.ts';
import { SLOWEST_FILES } from './slowest-first.ts';
import { pathsUnder } from './tidy/paths.ts';

test('names only files that are there', () => {
  const paths = ['src', 'test'].flatMap(pathsUnder);
  expect(SLOWEST_FILES.filter((path) => !paths.includes(path))).toEqual([]);
});

test('names the quick files last, so that processes are replaced once', () => {
  const quick = quickTestFiles([...SLOWEST_FILES]);
  expect(SLOWEST_FILES.slice(-quick.length)).toEqual(quick);
});
