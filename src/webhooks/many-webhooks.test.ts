import { expect, test } from 'vitest';
import { nextTurn } from '../../test/until.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { DueWebhook } from '../store/webhooks.ts';
import { type DelivererTerms, WebhookDeliverer } from './deliverer.ts';

/** A store in which these webhooks are due, in this order. A delivery to one of them lasts until it is released. */
function storeOf(due: readonly DueWebhook[]) {
  const claimed: bigint[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<null>();
  const reads: number[] = [];
  const store = {
    dueWebhooks: async (_nowMs: number, limit: number) => {
      reads.push(limit);
      return due.slice(0, limit);
    },
    claimDelivery: (id: bigint) => {
      claimed.push(id);
      return released;
    },
  };
  return { store: store as unknown as DelivererTerms['store'], claimed, reads, release: () => release(null) };
}

async function lookAt({ store, release }: ReturnType<typeof storeOf>): Promise<void> {
  const clock = new ManualClock(0);
  const terms = { store, clock, sealer: null, egress: null, random: () => 0, onAttempt() {}, onError() {} };
  const deliverer = new WebhookDeliverer(terms as unknown as DelivererTerms);
  deliverer.start();
  for (let round = 0; round < 10; round++) {
    clock.advance(LIMITS.webhookPollMs);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  }
  release();
  await deliverer.stop();
}

const hooks = (count: number, url: string, first: number, accountId: bigint | null = null): DueWebhook[] =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(first + at), accountId, url }));

test('a slow receiver leaves room for others, however many webhooks wait for it', async () => {
  const slow = hooks(LIMITS.webhookDueRows * 9, 'https://slow.example/', 1);
  const other = hooks(1, 'https://other.example/', 1_000_000);
  const world = storeOf([...slow, ...other]);
  await lookAt(world);
  expect(world.claimed.toSorted()).toEqual([1n, 1_000_000n, 2n, 3n, 4n].toSorted());
});

test('an account with many slow receivers leaves room for the webhooks of others', async () => {
  const slow = Array.from({ length: 20 }, (_, at) => hooks(1, `https://slow-${at}.example/`, at, 1n)).flat();
  const others = [...hooks(1, 'https://other.example/', 1_000_000, 2n), ...hooks(1, 'https://own.example/', 2_000_000)];
  const world = storeOf([...slow, ...others]);
  await lookAt(world);
  expect(world.claimed).toHaveLength(LIMITS.webhookAccountAtOnce + 2);
  expect(world.claimed).toEqual(expect.arrayContaining([1_000_000n, 2_000_000n]));
});

test('several accounts with slow receivers leave room for the webhooks of others', async () => {
  const slow = Array.from({ length: 100 }, (_, at) =>
    hooks(1, `https://slow-${at}.example/`, at, BigInt(at % 5)),
  ).flat();
  const others = Array.from({ length: 10 }, (_, at) =>
    hooks(1, `https://other-${at}.example/`, 1_000_000 + at, BigInt(100 + at)),
  ).flat();
  const world = storeOf([...slow, ...others]);
  await lookAt(world);
  expect(world.claimed).toEqual(expect.arrayContaining(others.map(({ id }) => id)));
});

test('one read is enough while few webhooks are due', async () => {
  const world = storeOf(hooks(LIMITS.webhookDueRows - 1, 'https://slow.example/', 1));
  await lookAt(world);
  expect(new Set(world.reads)).toEqual(new Set([LIMITS.webhookDueRows]));
});

test('reading ends at the most rows, if all of them are for one receiver', async () => {
  const world = storeOf(hooks(LIMITS.webhookDueRowsMax + 1, 'https://slow.example/', 1));
  await lookAt(world);
  expect(Math.max(...world.reads)).toBe(LIMITS.webhookDueRowsMax);
});
