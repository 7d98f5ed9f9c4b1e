import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test.each([
  [0, '0 seconds'],
  [0.5, '0.5 seconds'],
  [1, '1 second'],
  [1n, '1 second'],
  [2n, '2 seconds'],
])('%s is written with the noun in the right number', (count, text) => {
  expect(counted(count, 'second')).toBe(text);
});
