import { expect, test } from 'vitest';
import { formatDuration } from './time-format.ts';

test.each([
  [null, '–'],
  [412, '412 ms'],
  [999.6, '1.0 s'],
  [1_240, '1.2 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [200_000, '3 min 20 s'],
])('writes %d milliseconds as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
