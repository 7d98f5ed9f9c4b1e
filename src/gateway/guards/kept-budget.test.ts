import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LocalNumbers, NumberTable } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { KeptBudget } from './kept-budget.ts';

describe('the budget for stored responses', () => {
  let clock: ManualClock;
  let budget: KeptBudget;

  beforeEach(() => {
    clock = new ManualClock();
    budget = new KeptBudget({ clock, bytesMax: 250, bytesPerAccountMax: 100, wholeAtMs: new LocalNumbers(4) });
  });

  test('limits one account, and a refused response takes nothing', () => {
    expect([budget.take(1n, 60), budget.take(1n, 41), budget.take(1n, 40), budget.take(1n, 1)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(budget.take(2n, 100)).toBe(true);
  });

  test('limits all accounts together', () => {
    expect([1n, 2n, 3n].map((account) => budget.take(account, 100))).toEqual([true, true, false]);
    expect(budget.take(3n, 50)).toBe(true);
  });

  test('refills over the time for which a response is stored', () => {
    budget.take(1n, 100);
    clock.advance(LIMITS.idempotencyKeyMs / 2);
    expect([budget.take(1n, 51), budget.take(1n, 50)]).toEqual([false, true]);
    clock.advance(LIMITS.idempotencyKeyMs);
    expect(budget.take(1n, 100)).toBe(true);
  });

  test('remembers a limited number of accounts', () => {
    for (const account of [1n, 2n, 3n]) budget.take(account, 10);
    clock.advance(LIMITS.idempotencyKeyMs);
    for (const account of [4n, 5n, 6n, 7n]) expect(budget.take(account, 30)).toBe(true);
    expect(budget.take(7n, 100)).toBe(false);
  });

  test('never forgets what all accounts have taken together, however many there are', () => {
    const budget = new KeptBudget({
      clock,
      bytesMax: 10_000,
      bytesPerAccountMax: 100,
      wholeAtMs: NumberTable.ofThread(32, true),
    });
    let taken = 0;
    for (let account = 1n; account <= 150n; account++) if (budget.take(account, 100)) taken++;
    expect(taken).toBe(100);
  });
});
