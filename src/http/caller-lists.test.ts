import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { CallerLists } from './caller-lists.ts';

const { listsPerAccountMax: LISTS, listRowsPerSecond: PER_SECOND, listBurstS: BURST_S } = LIMITS;

function caller(accountId: bigint, keyId: bigint | null) {
  return { accountId, keyId, key: null };
}

function listOf(rows: number) {
  return async () => ({ data: Array.from({ length: rows }, () => 0) });
}

test('one account reads a bounded number of lists at a time, whichever keys it uses, and others are not affected', async () => {
  const lists = new CallerLists(new ManualClock(0));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const later = async () => {
    await released;
    return { data: [] };
  };
  const running = Array.from({ length: LISTS }, (_, at) => lists.read(caller(1n, BigInt(at + 1)), later));
  await expect(lists.read(caller(1n, 99n), later)).rejects.toMatchObject({ status: 429, retryAfterS: 1 });
  expect(await lists.read(caller(2n, 1n), listOf(0))).toEqual({ data: [] });
  const local = lists.read(caller(1n, null), later);
  release();
  for (const list of [...running, local]) expect(await list).toEqual({ data: [] });
});

test('one account reads a bounded number of rows per second, in lists and reports together', async () => {
  const clock = new ManualClock(0);
  const lists = new CallerLists(clock);
  await lists.read(caller(1n, 1n), listOf((PER_SECOND * BURST_S) / 2));
  await lists.countRows(caller(1n, 2n), listOf((PER_SECOND * BURST_S) / 2));
  await expect(lists.read(caller(1n, 3n), listOf(1))).rejects.toMatchObject({ status: 429, retryAfterS: 1 });
  await expect(lists.countRows(caller(1n, 3n), listOf(1))).rejects.toMatchObject({ status: 429 });
  await lists.read(caller(2n, 1n), listOf(1));
  await lists.read(caller(1n, null), listOf(1));
  clock.advance(1_000);
  await lists.read(caller(1n, 3n), listOf(1));
});

test('whoever reads far too many rows is told when to come back', async () => {
  const lists = new CallerLists(new ManualClock(0));
  await lists.countRows(caller(1n, 1n), listOf(PER_SECOND * (BURST_S + 7)));
  await expect(lists.read(caller(1n, 1n), listOf(1))).rejects.toMatchObject({ status: 429, retryAfterS: 7 });
});
