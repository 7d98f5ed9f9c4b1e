import { expect, test } from 'vitest';
import { cutText } from './cut-text.ts';

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab😀', 4, 'ab😀'],
  ['ab😀c', 4, 'ab😀'],
  ['ab😀', 3, 'ab'],
  ['😀', 1, ''],
  ['', 0, ''],
])('cuts %j after %i units at the end of a character', (text, charsMax, beginning) => {
  expect(cutText(text, charsMax)).toBe(beginning);
});
