import { expect, test } from 'vitest';
import { readRetryAfterMs } from './retry-after.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00Z');

test.each<[Record<string, string>, number | null]>([
  [{}, null],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.5' }, 1_000],
  [{ 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '250' }, 250],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after': '-1' }, null],
  [{ 'retry-after': '1e9' }, null],
  [{ 'retry-after': '99999999999999999999' }, null],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '' }, null],
])('%j means %s ms', (headers, ms) => {
  expect(readRetryAfterMs(headers, NOW_MS)).toBe(ms);
});
