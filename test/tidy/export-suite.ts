import { expect, test } from 'vitest';
import { namesOf, unusedExports } from './exports.ts';
import { ALL, PRODUCT, readText, sourceFile } from './source-files.ts';

/** Who uses an export without being one of the sources: a program in JavaScript. */
const ENTRIES = ['src/main/main.ts main'];

test('every export is used by another file', () => {
  const config = sourceFile('vitest.config.ts', readText('vitest.config.ts'));
  const names = [...ALL, config].map((file) => {
    const found = namesOf(file);
    // Later rules read the trees of few other files.
    if (!PRODUCT.includes(file)) file.forget();
    return found;
  });
  // What packages export is for those who install them.
  const unused = unusedExports(names).filter((name) => !name.startsWith('packages/'));
  expect(
    unused.filter((name) => !ENTRIES.includes(name)),
    'Drop the word export, and delete what its own file does not use either.',
  ).toEqual([]);
  expect(
    ENTRIES.filter((name) => !unused.includes(name)),
    'Take this name off the list of entries.',
  ).toEqual([]);
});
