import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EFFORTS, effortOfBudget, isEffort, nearestEffort } from './reasoning.ts';

const effort = fc.constantFrom(...EFFORTS);

describe('the nearest effort', () => {
  test('is the one asked for where the model has it', () => {
    fc.assert(
      fc.property(effort, fc.subarray([...EFFORTS]), (asked, others) => {
        expect(nearestEffort(asked, [...others, asked])).toBe(asked);
      }),
    );
  });

  test('is never further away than another the model has, and of two equally near the weaker', () => {
    const rank = (one: string): number => (EFFORTS as readonly string[]).indexOf(one);
    fc.assert(
      fc.property(effort, fc.subarray([...EFFORTS], { minLength: 1 }), (asked, offered) => {
        const nearest = nearestEffort(asked, offered)!;
        expect(offered).toContain(nearest);
        for (const other of offered) {
          const closer = Math.abs(rank(other) - rank(asked)) - Math.abs(rank(nearest) - rank(asked));
          expect(closer).toBeGreaterThanOrEqual(0);
          if (closer === 0) expect(rank(other)).toBeGreaterThanOrEqual(rank(nearest));
        }
      }),
    );
  });

  test.each([
    ['xhigh', ['low', 'medium', 'high'], 'high'],
    ['minimal', ['low', 'high'], 'low'],
    ['medium', ['low', 'high'], 'low'],
    ['none', ['low', 'medium'], 'low'],
    ['none', ['none', 'low'], 'none'],
    ['high', [], null],
    ['high', ['default'], null],
  ] as const)('of %s among %j is %s', (asked, offered, nearest) => {
    expect(nearestEffort(asked, offered)).toBe(nearest);
  });
});

test('a budget becomes the effort whose share of the limit is nearest', () => {
  const shares: [number, string][] = [
    [0.1, 'minimal'],
    [0.149, 'minimal'],
    [0.15, 'low'],
    [0.349, 'low'],
    [0.35, 'medium'],
    [0.649, 'medium'],
    [0.65, 'high'],
    [0.874, 'high'],
    [0.875, 'xhigh'],
    [1, 'xhigh'],
    [3, 'xhigh'],
  ];
  expect(shares.map(([share]) => effortOfBudget(share * 10_000, 10_000))).toEqual(shares.map(([, word]) => word));
});

test('only the seven words are efforts', () => {
  expect(EFFORTS.every(isEffort)).toBe(true);
  for (const other of ['', 'HIGH', 'default', 'ultra', null, 1, ['low'], 'toString'])
    expect(isEffort(other)).toBe(false);
});
