import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TokenBuckets } from '../src/gateway/guards/rate-limiter.ts';
import { ManualClock, systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import type { Store } from '../src/store/store.ts';
import { type EmptySchema, emptySchema } from './postgres.ts';

const LIMIT = { requestsPerSecond: 50, burst: 100 };
const KEY = 7n;
const SECONDS = 12;
/** How many requests one key may send in that time, to any process. */
const ALLOWED = LIMIT.burst + LIMIT.requestsPerSecond * SECONDS;

describe('the rate of a key over several processes on one PostgreSQL', () => {
  let schema: EmptySchema;
  let stores: Store[];
  let clock: ManualClock;

  beforeEach(async () => {
    schema = await emptySchema();
    stores = [];
    clock = new ManualClock();
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await schema.giveBack();
  });

  async function open(): Promise<Store> {
    const store = await openPostgresStore({ url: schema.url, clock: systemClock });
    await store.beginInstance();
    stores.push(store);
    return store;
  }

  /** How many requests are accepted in total, if each process gets `demands` of them between two exchanges of counts. */
  async function letIn(demands: (atMs: number) => readonly number[]): Promise<number> {
    const processes = await Promise.all(
      demands(0).map(async () => ({ store: await open(), buckets: new TokenBuckets(LIMIT, clock) })),
    );
    const share = (store: Store) => (taken: ReadonlyMap<bigint, number>) => store.shareRequests(taken);
    for (const { store } of processes) await store.shareRequests(new Map());
    let passed = 0;
    for (let atMs = 0; atMs < SECONDS * 1000; atMs += LIMITS.requestShareMs) {
      const asked = demands(atMs);
      for (const [at, { buckets }] of processes.entries()) {
        for (let request = 0; request < asked[at]!; request++) if (buckets.take(KEY)) passed++;
      }
      for (const { store, buckets } of processes) await buckets.share(share(store));
      clock.advance(LIMITS.requestShareMs);
    }
    return passed;
  }

  function expectWithinTenth(passed: number): void {
    expect(passed).toBeGreaterThan(0.9 * ALLOWED);
    expect(passed).toBeLessThan(1.1 * ALLOWED);
  }

  it('is that of one, with the load on all alike', async () => {
    expectWithinTenth(await letIn(() => [20, 20, 20]));
  });

  it('is that of one, with all load on one', async () => {
    expectWithinTenth(await letIn(() => [0, 60, 0]));
  });

  it('is that of one, with uneven load', async () => {
    expectWithinTenth(await letIn(() => [3, 40, 9]));
  });

  it('is that of one, with more load than any could serve from the first moment', async () => {
    expectWithinTenth(await letIn(() => [500, 500, 500]));
  });

  it('is that of one, after one of them has died', async () => {
    expectWithinTenth(await letIn((atMs) => (atMs < 4_000 ? [20, 20, 20] : [20, 0, 20])));
  });

  it('does not count its own requests once more after it was declared dead and has registered again', async () => {
    const store = await open();
    await store.shareRequests(new Map());
    await store.shareRequests(new Map([[KEY, 500]]));
    await store.beginInstance();
    expect(await store.shareRequests(new Map())).toEqual(new Map());
  });

  it('is told once, and not to who came later', async () => {
    const [one, two] = [await open(), await open()];
    await one.shareRequests(new Map());
    await two.shareRequests(new Map());
    expect(await one.shareRequests(new Map([[KEY, 5]]))).toEqual(new Map());
    expect(await two.shareRequests(new Map([[KEY, 2]]))).toEqual(new Map([[KEY, 5]]));
    expect(await two.shareRequests(new Map())).toEqual(new Map());
    const three = await open();
    expect(await three.shareRequests(new Map([[8n, 1]]))).toEqual(new Map());
    await one.shareRequests(new Map([[KEY, 4]]));
    expect(await three.shareRequests(new Map())).toEqual(new Map([[KEY, 4]]));
    expect(await two.shareRequests(new Map())).toEqual(
      new Map([
        [KEY, 4],
        [8n, 1],
      ]),
    );
  });
});
