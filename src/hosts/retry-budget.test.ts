import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { RetryBudget } from './retry-budget.ts';

function spendAll(budget: RetryBudget): number {
  let spent = 0;
  while (budget.spend() && spent < 1_000) spent++;
  return spent;
}

test('the budget starts full, and every fifth call adds one retry', () => {
  const budget = new RetryBudget(20);
  expect(spendAll(budget)).toBe(LIMITS.retriesSavedMax);
  for (let call = 0; call < 4; call++) budget.feed();
  expect(spendAll(budget)).toBe(0);
  budget.feed();
  expect(spendAll(budget)).toBe(1);
});

test('the budget never exceeds its maximum', () => {
  const budget = new RetryBudget(20);
  for (let call = 0; call < 100_000; call++) budget.feed();
  expect(spendAll(budget)).toBe(LIMITS.retriesSavedMax);
});

test('when every call wants a second retry, one in five gets it', () => {
  const budget = new RetryBudget(20);
  spendAll(budget);
  let retried = 0;
  for (let call = 0; call < 1_000; call++) {
    budget.feed();
    if (budget.spend()) retried++;
  }
  expect(retried).toBe(200);
});

test('with a share of zero there is no second retry', () => {
  expect(spendAll(new RetryBudget(0))).toBe(0);
});
