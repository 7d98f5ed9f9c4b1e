import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Receipt } from '../canonical/receipt.ts';
import { ManualClock } from '../kit/clock.ts';
import { idFloorAt } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { type FeedReads, StoreUnavailable } from '../store/store.ts';
import { type FeedEntry, type FeedFilter, ReceiptFeed } from './receipt-feed.ts';

const START_MS = Date.UTC(2026, 0, 1);
const ID_LEAD_MS = 10_000;
const ALL: FeedFilter = { accountId: null, keyId: null, personId: null };

interface Call {
  readonly id: bigint;
  readonly heldMs: number;
  readonly endsMs: number;
  /** As the process that made the call writes it: its clock may be wrong. */
  readonly endedMs: number;
  readonly accountId: bigint;
}

let next = 0n;
function call(heldMs: number, endsMs: number, over: Partial<Call> & { idMs?: number } = {}): Call {
  const { idMs = heldMs, ...rest } = over;
  return { id: idFloorAt(idMs) + next++, heldMs, endsMs, endedMs: endsMs, accountId: 1n, ...rest };
}

/** A ledger with these calls, which changes while it is read. */
class Ledger implements FeedReads {
  readonly calls: Call[] = [];
  readonly #clock: ManualClock;
  reads = 0;
  isAway = false;
  /** How far time advances during each read. */
  readMs = 0;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async openCalls(limit: number) {
    const nowMs = this.#look();
    return this.calls
      .filter(({ heldMs, endsMs }) => heldMs <= nowMs && endsMs > nowMs)
      .slice(0, limit)
      .map(ownerOf);
  }

  async endedCalls(fromId: bigint, sinceMs: number, limit: number) {
    const nowMs = this.#look();
    return this.calls
      .filter(({ id, endsMs, endedMs }) => endsMs <= nowMs && endedMs >= sinceMs && id >= fromId)
      .slice(0, limit)
      .map(ownerOf);
  }

  async endedReceipts(ids: readonly bigint[]) {
    const nowMs = this.#look();
    return this.calls.filter(({ id, endsMs }) => ids.includes(id) && endsMs <= nowMs) as unknown as Receipt[];
  }

  #look(): number {
    if (this.isAway) throw new StoreUnavailable('away');
    this.reads++;
    if (this.readMs > 0) this.#clock.advance(this.readMs);
    return this.#clock.nowMs();
  }
}

function ownerOf({ id, accountId }: Call) {
  return { id, accountId, keyId: null, personId: null };
}

function start() {
  const clock = new ManualClock(START_MS);
  const ledger = new Ledger(clock);
  return { clock, ledger, feed: new ReceiptFeed({ reads: ledger, clock, idLeadMs: ID_LEAD_MS }) };
}

/** Lets a reading of the ledger that has begun come to its end. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
  }
}

async function follow(feed: ReceiptFeed, filter = ALL, after: string | null = null) {
  const entries: FeedEntry[] = [];
  const subscription = await feed.subscribe(filter, after, (more) => entries.push(...more));
  return { entries, ids: () => entries.map(({ receipt }) => receipt?.id ?? null), ...subscription };
}

/** When a call is held, how long it lasts, how long before the hold its id is made, and how wrong the clock of its process is. */
const drawnCall = fc.record({
  heldMs: fc.integer({ min: -5_000, max: 20_000 }),
  lastsMs: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 40_000 })),
  leadMs: fc.integer({ min: 0, max: ID_LEAD_MS }),
  skewMs: fc.integer({ min: -4_000, max: 4_000 }),
});

test('a feed shows every call that ends, once, however long it runs and however slowly its body came', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawnCall, { maxLength: 30 }),
      fc.integer({ max: 300, min: 0 }),
      async (drawn, readMs) => {
        const { clock, ledger, feed } = start();
        for (const { heldMs, lastsMs, leadMs, skewMs } of drawn) {
          const [heldAtMs, endsMs] = [START_MS + heldMs, START_MS + heldMs + lastsMs];
          // A call that is seen while it runs is found without a clock.
          const endedMs = endsMs + (lastsMs > 15_000 ? 20 : 1) * skewMs;
          ledger.calls.push(call(heldAtMs, endsMs, { idMs: heldAtMs - leadMs, endedMs }));
        }
        ledger.readMs = readMs;
        const { entries } = await follow(feed);
        await pass(clock, 75_000);
        const seen = entries.map(({ receipt }) => receipt!.id);
        const expected = ledger.calls.filter(({ endsMs }) => endsMs > START_MS + readMs).map(({ id }) => id);
        expect(new Set(seen).size).toBe(seen.length);
        expect(expected.filter((id) => !seen.includes(id))).toEqual([]);
        feed.close();
      },
    ),
    {
      numRuns: 150,
      // It ends between the two readings, and is then too old for the second reading of the next round.
      examples: [[[{ heldMs: -3_739, lastsMs: 5_268, leadMs: 9_998, skewMs: 0 }], 264]],
    },
  );
});

test('the filters that are remembered are limited: the one that was left longest ago is forgotten, never one with a reader', async () => {
  const { feed } = start();
  const reader = await follow(feed);
  for (let id = 1; id <= LIMITS.receiptFeedChannelsMax + 5; id++)
    (await follow(feed, { ...ALL, accountId: BigInt(id) })).end();
  expect(feed.channels).toBe(LIMITS.receiptFeedChannelsMax);
  expect((await follow(feed, ALL, reader.cursor)).missed).toEqual([]);
  feed.close();
});

test('receipts of one reading come in the order in which the calls ended', async () => {
  const { clock, ledger, feed } = start();
  const [long, short] = [call(START_MS - 9_000, START_MS + 700), call(START_MS + 100, START_MS + 200)];
  ledger.calls.push(long, short);
  const { ids } = await follow(feed);
  await pass(clock, 2_000);
  expect(ids()).toEqual([short.id, long.id]);
});

test('a reader sees only what the filter allows', async () => {
  const { clock, ledger, feed } = start();
  const [own, other] = [call(START_MS + 1, START_MS + 2), call(START_MS + 1, START_MS + 2, { accountId: 2n })];
  ledger.calls.push(own, other);
  const [one, all] = [await follow(feed, { ...ALL, accountId: 1n }), await follow(feed)];
  await pass(clock, 2_000);
  expect(one.ids()).toEqual([own.id]);
  expect(all.ids()).toEqual([own.id, other.id]);
});

test('the ledger is not read while nobody listens', async () => {
  const { clock, ledger, feed } = start();
  await pass(clock, 5_000);
  expect(ledger.reads).toBe(0);
  const { end } = await follow(feed);
  end();
  await pass(clock, LIMITS.receiptFeedKeptMs + 2_000);
  const reads = ledger.reads;
  expect(reads).toBeGreaterThan(0);
  await pass(clock, 5_000);
  expect(ledger.reads).toBe(reads);
});

test('a reader who comes back gets what it missed, or a gap if that is not known any more', async () => {
  const { clock, ledger, feed } = start();
  const [first, second] = [call(START_MS + 1, START_MS + 2), call(START_MS + 1, START_MS + 5_000)];
  ledger.calls.push(first, second);
  const reader = await follow(feed);
  await pass(clock, 2_000);
  reader.end();
  const { cursor } = reader.entries.at(-1)!;
  await pass(clock, 6_000);
  const again = await follow(feed, ALL, cursor);
  expect(again.missed.map(({ receipt }) => receipt?.id)).toEqual([second.id]);
  expect((await follow(feed, ALL, again.cursor)).missed).toEqual([]);
  const gap = [{ cursor: again.cursor, receipt: null }];
  for (const unknown of ['elsewhere.1', 'nonsense', `${cursor}9`, '.', again.cursor.replace(/\d+$/, '-1')])
    expect((await follow(feed, ALL, unknown)).missed).toEqual(gap);
  for (let at = 0; at <= LIMITS.receiptFeedKeptMax; at++) ledger.calls.push(call(clock.nowMs() + 1, clock.nowMs() + 2));
  await pass(clock, 2_000);
  expect((await follow(feed, ALL, cursor)).missed).toMatchObject([{ receipt: null }]);
});

test('too many receipts at once leave a gap, only for readers who would see them', async () => {
  const { clock, ledger, feed } = start();
  for (let at = 0; at <= LIMITS.receiptFeedReceiptsMax; at++) ledger.calls.push(call(START_MS + 1, START_MS + 2));
  ledger.calls.push(call(START_MS + 1, START_MS + 2, { accountId: 2n }));
  const [all, other] = [await follow(feed), await follow(feed, { ...ALL, accountId: 2n })];
  await pass(clock, 2_000);
  expect([all.ids()[0], all.entries.length]).toEqual([null, LIMITS.receiptFeedReceiptsMax + 1]);
  expect(other.ids()).toEqual([ledger.calls.at(-1)!.id]);
});

test('what ends while the ledger cannot be read is shown afterwards', async () => {
  const { clock, ledger, feed } = start();
  const { ids } = await follow(feed);
  ledger.isAway = true;
  const ended = call(START_MS + 1_500, START_MS + 1_600);
  ledger.calls.push(ended);
  await pass(clock, 60_000);
  expect(ids()).toEqual([]);
  ledger.isAway = false;
  await pass(clock, 2_000);
  expect(ids()).toEqual([ended.id]);
});

test('a feed that cannot be read at first refuses its reader, and the next one may try again', async () => {
  const { ledger, feed } = start();
  ledger.isAway = true;
  await expect(follow(feed)).rejects.toThrow(StoreUnavailable);
  ledger.isAway = false;
  await expect(follow(feed)).resolves.toBeDefined();
  feed.close();
  await expect(follow(feed)).rejects.toThrow('stopping');
});
