import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { ListPlaces } from './list-places.ts';

const caller = (accountId: bigint, keyId: bigint | null = 1n) => ({ accountId, keyId, key: null });

test('one account reads a bounded number of lists at a time, whichever keys it uses, and others are not affected', async () => {
  const places = new ListPlaces();
  const { promise: released, resolve: release } = Promise.withResolvers<string>();
  const running = Array.from({ length: LIMITS.receiptListsPerAccountMax }, (_, at) =>
    places.during(caller(1n, BigInt(at + 1)), () => released),
  );
  await expect(places.during(caller(1n, 99n), async () => 'read')).rejects.toMatchObject({
    status: 429,
    retryAfterS: 1,
  });
  expect(await places.during(caller(2n), async () => 'read')).toBe('read');
  expect(await places.during(caller(1n, null), async () => 'local')).toBe('local');
  release('done');
  expect(await Promise.all(running)).toEqual(running.map(() => 'done'));
  expect(await places.during(caller(1n), async () => 'read')).toBe('read');
});

test('a list that fails frees its place', async () => {
  const places = new ListPlaces();
  for (let failed = 0; failed <= LIMITS.receiptListsPerAccountMax; failed++)
    await expect(places.during(caller(1n), () => Promise.reject(new Error('away')))).rejects.toThrow('away');
});
