import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { KeptBudget } from './kept-budget.ts';

describe('bytes of kept answers', () => {
  let clock: ManualClock;
  let budget: KeptBudget;

  beforeEach(() => {
    clock = new ManualClock();
    budget = new KeptBudget({ clock, bytesMax: 250, bytesPerAccountMax: 100, accountsMax: 3 });
  });

  test('end with what one account may have, and are not taken by one that gets none', () => {
    expect([budget.take(1n, 60), budget.take(1n, 41), budget.take(1n, 40), budget.take(1n, 1)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(budget.take(2n, 100)).toBe(true);
  });

  test('end with what all may have together', () => {
    expect([1n, 2n, 3n].map((account) => budget.take(account, 100))).toEqual([true, true, false]);
    expect(budget.take(3n, 50)).toBe(true);
  });

  test('come back over the time for which an answer is kept', () => {
    budget.take(1n, 100);
    clock.advance(LIMITS.idempotencyKeyMs / 2);
    expect([budget.take(1n, 51), budget.take(1n, 50)]).toEqual([false, true]);
    clock.advance(LIMITS.idempotencyKeyMs);
    expect(budget.take(1n, 100)).toBe(true);
  });

  test('are remembered of so many accounts, and no more', () => {
    for (const account of [1n, 2n, 3n]) budget.take(account, 10);
    clock.advance(LIMITS.idempotencyKeyMs);
    for (const account of [4n, 5n, 6n, 7n]) expect(budget.take(account, 30)).toBe(true);
    expect(budget.take(7n, 100)).toBe(false);
  });
});
