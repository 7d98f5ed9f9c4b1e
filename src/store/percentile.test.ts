import { expect, test } from 'vitest';
import { percentileMs } from './percentile.ts';
import { TIME_BOUNDS_MS } from './usage-dimensions.ts';

function counts(...classes: readonly (readonly [at: number, count: bigint])[]): bigint[] {
  const all = Array.from({ length: TIME_BOUNDS_MS.length + 1 }, () => 0n);
  for (const [at, count] of classes) all[at] = count;
  return all;
}

test('a percentile is interpolated within its class', () => {
  expect(percentileMs(counts([0, 10n]), 0.5)).toBe(50);
  expect(percentileMs(counts([1, 10n]), 0.5)).toBe(150);
  expect(percentileMs(counts([0, 90n], [5, 10n]), 0.95)).toBe(850);
  expect(percentileMs(counts([0, 1n], [15, 1n]), 0.5)).toBe(100);
});

test('times above the last bound are shown as that bound', () => {
  expect(percentileMs(counts([0, 1n], [15, 9n]), 0.5)).toBe(180_000);
});

test('without calls there is none', () => {
  expect(percentileMs(counts(), 0.95)).toBeNull();
});
