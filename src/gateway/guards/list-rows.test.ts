import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { ListRows } from './list-rows.ts';

const { listRowsPerSecond: PER_SECOND, listBurstS: BURST_S } = LIMITS;

test('limits the rows of each reader, at once and per second', () => {
  const clock = new ManualClock(0);
  const rows = new ListRows(clock);
  rows.spend(1n, PER_SECOND * BURST_S);
  expect([rows.areLeft(1n), rows.areLeft(2n)]).toEqual([false, true]);
  clock.advance(1_000);
  expect(rows.areLeft(1n)).toBe(true);
  rows.spend(1n, PER_SECOND);
  expect(rows.areLeft(1n)).toBe(false);
});

test('resolves when rows are left again', async () => {
  const clock = new ManualClock(0);
  const rows = new ListRows(clock);
  await rows.untilLeft(1n);
  rows.spend(1n, PER_SECOND * (BURST_S + 1));
  let isLeft = false;
  const waiting = rows.untilLeft(1n).then(() => {
    isLeft = true;
  });
  clock.advance(999);
  await Promise.resolve();
  expect(isLeft).toBe(false);
  clock.advance(2);
  await waiting;
  expect(rows.areLeft(1n)).toBe(true);
});
