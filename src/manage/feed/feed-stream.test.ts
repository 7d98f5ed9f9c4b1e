import { expect, test } from 'vitest';
import type { Receipt } from '../../canonical/receipt.ts';
import type { OutboundResponse } from '../../http1/server.ts';
import { ManualClock } from '../../kit/clock.ts';
import type { FeedEntry, FeedListener } from '../../ledger/receipt-feed.ts';
import { LIMITS } from '../../limits.ts';
import { FeedStream } from './feed-stream.ts';

/** A response whose client reads only when the test says so. */
function client() {
  return {
    text: '',
    pendingBytes: 0,
    destroyed: false,
    ended: false,
    onClose: null as (() => void) | null,
    onDrain: null as (() => void) | null,
    head: () => undefined,
    write(text: string): boolean {
      this.text += text;
      this.pendingBytes += text.length;
      return false;
    },
    end() {
      this.ended = true;
    },
    readAll(): string {
      const { text } = this;
      this.text = '';
      this.pendingBytes = 0;
      this.onDrain?.();
      return text;
    },
  };
}

async function open(check: () => Promise<void> = async () => undefined) {
  const clock = new ManualClock(0);
  const response = client();
  const state = { ends: 0, unsubscribed: 0, listener: null as FeedListener | null };
  const stream = await FeedStream.open({
    feed: {
      subscribe: async (_filter, _after, listener) => {
        state.listener = listener;
        return { cursor: 'run.0', missed: [], end: () => void state.unsubscribed++ };
      },
    },
    filter: { accountId: null, keyId: null, personId: null },
    after: null,
    clock,
    view: ({ id }) => ({ id: String(id) }),
    check,
    onEnd: () => void state.ends++,
  });
  stream.start(response as unknown as OutboundResponse, 'req_1');
  const deliver = (...ids: bigint[]) => state.listener!(ids.map(entry));
  return { clock, response, state, stream, deliver };
}

function entry(id: bigint): FeedEntry {
  return { cursor: `run.${id}`, receipt: { id } as Receipt };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a reader is told that the feed is ready, and then gets receipts with their cursors', async () => {
  const { response, deliver } = await open();
  expect(response.readAll()).toBe('event: ready\nid: run.0\ndata: {}\n\n');
  deliver(1n, 2n);
  expect(response.readAll()).toBe(
    'event: receipt\nid: run.1\ndata: {"id":"1"}\n\nevent: receipt\nid: run.2\ndata: {"id":"2"}\n\n',
  );
});

test('a reader who does not read gets a gap, and memory stays bounded', async () => {
  const { response, deliver } = await open();
  for (let id = 1n; id <= 100_000n; id++) deliver(id);
  expect(response.pendingBytes).toBeLessThan(LIMITS.receiptFeedUnreadBytesMax + 100);
  response.readAll();
  expect(response.readAll()).toMatch(/^event: gap\nid: run\.100000\n.*\n\n$/);
  deliver(100_001n);
  expect(response.readAll()).toMatch(/^event: receipt\nid: run\.100001\n/);
});

test('the feed ends within two seconds after its reader may not see it any more', async () => {
  let isAllowed = true;
  const { clock, response, state } = await open(async () => {
    if (!isAllowed) throw new Error('not any more');
  });
  clock.advance(LIMITS.receiptFeedCheckMs);
  await settle();
  expect(response.ended).toBe(false);
  isAllowed = false;
  clock.advance(LIMITS.receiptFeedCheckMs);
  await settle();
  expect([response.ended, state]).toMatchObject([true, { ends: 1, unsubscribed: 1 }]);
});

test('nothing is sent while a check takes too long', async () => {
  const { clock, response, deliver } = await open(() => new Promise(() => undefined));
  clock.advance(LIMITS.receiptFeedCheckMs);
  clock.advance(2 * LIMITS.receiptFeedCheckMs);
  response.readAll();
  deliver(1n);
  expect([response.text, response.ended]).toEqual(['', true]);
});

test('a quiet feed is kept alive, but not for a reader who does not read', async () => {
  const { clock, response } = await open();
  const pass = async () => {
    for (let ms = 0; ms < LIMITS.receiptFeedKeepAliveMs; ms += LIMITS.receiptFeedCheckMs) {
      clock.advance(LIMITS.receiptFeedCheckMs);
      await settle();
    }
  };
  await pass();
  expect(response.readAll()).not.toContain('keep-alive');
  await pass();
  expect(response.text).toBe(': keep-alive\n\n');
  await pass();
  expect(response.text).toBe(': keep-alive\n\n');
});

test('a reader who leaves ends its feed once, and nothing is checked any more', async () => {
  let checks = 0;
  const { clock, response, state, stream } = await open(async () => void checks++);
  response.onClose!();
  stream.end();
  clock.advance(10 * LIMITS.receiptFeedCheckMs);
  await settle();
  expect([checks, response.ended, state]).toMatchObject([0, false, { ends: 1, unsubscribed: 1 }]);
});
