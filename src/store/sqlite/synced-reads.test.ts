import { expect, test } from 'vitest';
import { SyncedReads } from './synced-reads.ts';

/** A writer whose replies the test gives. */
function open(isUnsynced: boolean) {
  const memory = { isUnsynced };
  const pings: (() => void)[] = [];
  const writer = { call: () => new Promise<never>((resolve) => pings.push(resolve as () => void)) };
  return { memory, pings, reads: new SyncedReads(memory, writer) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what was read while a commit is being synced is returned only after the writer replies', async () => {
  const { pings, reads } = open(true);
  let read: string | null = null;
  const reading = reads.read(() => 'a balance').then((result) => (read = result));
  await settled();
  expect([read, pings.length]).toEqual([null, 1]);
  pings[0]!();
  await reading;
  expect(read).toBe('a balance');
});

test('a commit that begins during a read is waited for too', async () => {
  const { memory, pings, reads } = open(false);
  const reading = reads.read(async () => {
    memory.isUnsynced = true;
    return 'a list';
  });
  await settled();
  expect(pings).toHaveLength(1);
  pings[0]!();
  expect(await reading).toBe('a list');
});

test('a read does not ask the writer when every commit is on disk', async () => {
  const { pings, reads } = open(false);
  expect(await reads.read(() => 1)).toBe(1);
  expect(pings).toEqual([]);
});
