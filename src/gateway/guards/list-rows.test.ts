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

test('says how long a reader has to wait', () => {
  const clock = new ManualClock(0);
  const rows = new ListRows(clock);
  expect(rows.waitMs(1n)).toBe(0);
  rows.spend(1n, PER_SECOND * (BURST_S + 7));
  expect(rows.waitMs(1n)).toBe(7_000);
  clock.advance(7_001);
  expect(rows.waitMs(1n)).toBe(0);
});

test('resolves when half of the rows are left, so that an export leaves some for other lists', async () => {
  const clock = new ManualClock(0);
  const rows = new ListRows(clock);
  await rows.untilPlenty(1n);
  rows.spend(1n, PER_SECOND * (BURST_S / 2 + 1));
  expect(rows.areLeft(1n)).toBe(true);
  let isPlenty = false;
  const waiting = rows.untilPlenty(1n).then(() => {
    isPlenty = true;
  });
  clock.advance(999);
  await Promise.resolve();
  expect(isPlenty).toBe(false);
  clock.advance(2);
  await waiting;
});
