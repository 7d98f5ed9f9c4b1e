import { describe, expect, test } from 'vitest';
import { bucketStarts, buildPlot, type Point, ticksFor } from './series.ts';

const point = (start: number, name: string, value: bigint): Point => ({ start, name, label: name, value });

describe('the series of a plot', () => {
  test('has a zero for every bucket without a value', () => {
    const plot = buildPlot([point(1, 'a', 5n), point(3, 'a', 7n)], [1, 2, 3]);
    expect(plot.series.map(({ values }) => values)).toEqual([[5n, 0n, 7n]]);
    expect(plot.totals).toEqual([5n, 0n, 7n]);
  });

  test('adds up everything beyond the largest four, and loses nothing', () => {
    const points = Array.from({ length: 9 }, (_, at) => point(1, `m${at}`, BigInt(at + 1)));
    const plot = buildPlot(points, [1]);
    expect(plot.series.map(({ label }) => label)).toEqual(['m8', 'm7', 'm6', 'm5', '5 others']);
    expect(plot.totals).toEqual([45n]);
  });
});

describe('buckets of time', () => {
  const at = (text: string): number => Date.parse(text) / 1000;

  test('weeks begin on Monday and months on their first day, in UTC', () => {
    expect(bucketStarts('week', at('2026-11-15T12:00:00Z'), at('2026-11-24T00:00:00Z'))).toEqual(
      ['2026-11-09', '2026-11-16', '2026-11-23'].map((day) => at(`${day}T00:00:00Z`)),
    );
    expect(bucketStarts('month', at('2026-11-15T12:00:00Z'), at('2027-01-02T00:00:00Z'))).toEqual(
      ['2026-11-01', '2026-12-01', '2027-01-01'].map((day) => at(`${day}T00:00:00Z`)),
    );
  });
});

test('ticks are round and reach the largest value', () => {
  expect(ticksFor(5.4)).toEqual([0, 2, 4, 6]);
  expect(ticksFor(0)).toEqual([0, 1]);
  expect(ticksFor(100)).toEqual([0, 50, 100]);
});
