import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LocalNumbers } from '../../kit/numbers-by-id.ts';
import { WorkBudget } from './work-budget.ts';

test('admits anything while it is full, then what is left, then nothing until the debt is paid', () => {
  const clock = new ManualClock();
  const budget = new WorkBudget(100, 200, clock);
  expect(budget.left(1n)).toBe(Number.POSITIVE_INFINITY);
  budget.spend(1n, 150);
  expect([budget.left(1n), budget.waitMs(1n)]).toEqual([50, 1500]);
  budget.spend(1n, 1_000);
  expect([budget.left(1n), budget.waitMs(1n)]).toEqual([0, 11_500]);
  expect(budget.left(2n)).toBe(Number.POSITIVE_INFINITY);
  clock.advance(9_500);
  expect(budget.left(1n)).toBe(0);
  clock.advance(1_000);
  expect(budget.left(1n)).toBe(100);
  clock.advance(1_000);
  expect(budget.left(1n)).toBe(Number.POSITIVE_INFINITY);
});

test('takes exactly as much as is left, or nothing', () => {
  const units = fc.integer({ min: 0, max: 300 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ units, waitMs: fc.integer({ min: 0, max: 3_000 }) }), { maxLength: 20 }),
      (steps) => {
        const clock = new ManualClock();
        const [taking, spending] = [new WorkBudget(100, 200, clock), new WorkBudget(100, 200, clock)];
        for (const step of steps) {
          clock.advance(step.waitMs);
          const fits = spending.left(1n) >= step.units;
          if (fits) spending.spend(1n, step.units);
          expect(taking.take(1n, step.units)).toBe(fits);
          expect(taking.waitMs(1n)).toBe(spending.waitMs(1n));
        }
      },
    ),
  );
});

test('remembers a bounded number of keys, and forgets the one that owes least', () => {
  const budget = new WorkBudget(1, 10, new ManualClock(), new LocalNumbers(2));
  for (const key of [1n, 2n, 1n, 3n]) budget.spend(key, 5);
  expect([1n, 2n, 3n].map((key) => budget.left(key))).toEqual([0, Number.POSITIVE_INFINITY, 5]);
});
