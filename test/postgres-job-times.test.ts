import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import type { Store } from '../src/store/store.ts';
import { aChunk, aJob, aRelease, aReserve } from './job-fixtures.ts';
import { type EmptySchema, emptySchema } from './postgres.ts';
import { aCredit, anAccount } from './store-fixtures.ts';

/** A process whose clock is ahead shares a PostgreSQL with others. */

const HOUR_MS = 3_600_000;
const FAST: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 2 * HOUR_MS };

let schema: EmptySchema;
let store: Store;

beforeEach(async () => {
  schema = await emptySchema();
  store = await openPostgresStore({ url: schema.url, clock: FAST });
  await store.createAccount(anAccount(1n));
  await store.apply([aCredit(1n, 1_000n)]);
});
afterEach(async () => {
  await store.close();
  await schema.giveBack();
});

async function accept(id: bigint, expiresMs: number, resultTtlMs: number): Promise<void> {
  await store.jobs.stage([aJob(id, 100n, { expiresMs, resultTtlMs })], [aChunk(id)]);
  expect(await store.apply([aReserve(id, 100n)])).toEqual([{ kind: 'reserved' }]);
}

test('a process whose clock is ahead expires only jobs whose time has passed for the database', async () => {
  const nowMs = systemClock.nowMs();
  await accept(10n, nowMs - HOUR_MS, HOUR_MS);
  await accept(11n, nowMs + HOUR_MS, HOUR_MS);
  expect((await store.jobs.expired(FAST.nowMs(), 10)).map(({ id }) => id)).toEqual([10n]);
});

test('a process whose clock is ahead deletes no result before its time has passed for the database', async () => {
  await accept(12n, systemClock.nowMs() + HOUR_MS, HOUR_MS);
  expect(await store.apply([aRelease(12n, { end: 'cancelled' })])).toMatchObject([{ kind: 'released' }]);
  const job = await store.jobs.find(12n, null);
  expect(job!.resultExpiresMs! - systemClock.nowMs()).toBeGreaterThan(0);
  await store.jobs.sweep(FAST.nowMs());
  expect((await store.jobs.find(12n, null))!.contentGoneMs).toBeNull();
});
