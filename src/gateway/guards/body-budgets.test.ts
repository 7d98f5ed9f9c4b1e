import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { BodyBudgets } from './body-budgets.ts';

const LIMITED = { bodyBytesPerSecond: 100, jsonMembersPerSecond: 10 };
const BURST_BYTES = 100 * LIMITS.bodyBurstS;
const of = (keyId: bigint, accountId = 1n) => ({ keyId, accountId });

test('the keys of an account share a multiple of the budget of one key, if it is told to', () => {
  const clock = new ManualClock();
  const budgets = new BodyBudgets({ ...LIMITED, accountFactor: 2 }, clock);
  for (const key of [1n, 2n]) expect(budgets.takeBody(of(key), BURST_BYTES)).toBeNull();
  const refused = budgets.takeBody(of(3n), 1);
  expect(refused).toMatchObject({ status: 429, retryAfterS: LIMITS.bodyBurstS });
  expect(refused?.message).toContain('keys of this account together may send 200 bytes');
  expect(budgets.takeBody(of(4n, 2n), BURST_BYTES)).toBeNull();
  clock.advance(1_000 * LIMITS.bodyBurstS);
  expect(budgets.takeBody(of(3n), 1)).toBeNull();
});

test('a body that is refused for its account costs the key nothing', () => {
  const clock = new ManualClock();
  const budgets = new BodyBudgets({ ...LIMITED, accountFactor: 1 }, clock);
  expect(budgets.takeBody(of(1n), BURST_BYTES)).toBeNull();
  expect(budgets.takeBody(of(2n), BURST_BYTES)?.status).toBe(429);
  // The same key of another account: only its own budget is left to refuse it.
  expect(budgets.takeBody(of(2n, 2n), BURST_BYTES / 2)).toBeNull();
  expect(budgets.takeBody(of(2n, 3n), BURST_BYTES / 2)).toBeNull();
});

test('a key has as many JSON members left as its account, if these are fewer', () => {
  const budgets = new BodyBudgets({ ...LIMITED, accountFactor: 2 }, new ManualClock());
  budgets.spendMembers(of(1n), 30);
  budgets.spendMembers(of(2n), 9);
  expect([budgets.membersLeft(of(2n)), budgets.membersLeft(of(3n)), budgets.membersLeft(of(4n, 2n))]).toEqual([
    1,
    1,
    Number.POSITIVE_INFINITY,
  ]);
  expect(budgets.tooManyMembers(of(3n), 5).message).toContain('keys of this account together');
  expect(budgets.tooManyMembers(of(1n), 5).message).toContain('This key');
});

test('accounts are not limited by default', () => {
  const budgets = new BodyBudgets(LIMITED, new ManualClock());
  for (let key = 1n; key < 100n; key++) expect(budgets.takeBody(of(key), BURST_BYTES)).toBeNull();
});
