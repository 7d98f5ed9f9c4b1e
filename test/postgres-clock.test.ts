import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submitJob } from '../campaigns/jobs/submitter.ts';
import { readStore } from '../src/config/store.ts';
import type { JobReader } from '../src/jobs/jobs.ts';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { idTimeMs, parseId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { type EmptySchema, emptySchema } from './postgres.ts';
import { pollOften } from './short-polls.ts';

/** Two gateways share a PostgreSQL. The clock of one is wrong; both go by the clock of the database. */

const HOUR_MS = 3_600_000;
const WAIT_MS = 30_000;
const FAST: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 2 * HOUR_MS };

let folder: string;
let schema: EmptySchema;
/** Its clock is two hours ahead. It accepts jobs, and runs them only if a test lets it. */
let fast: Harness;
let right: Harness;
let key: MintedKey;
let reader: JobReader;

beforeAll(pollOften);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-clocks-'));
  for (const name of ['fast', 'right']) mkdirSync(join(folder, name));
  schema = await emptySchema();
  const store = readStore(schema.url);
  const start = (name: string, config: object, clock: Clock): Promise<Harness> =>
    startHarness({ hosted: true, folder: join(folder, name), clock, config: { store, ...config } });
  fast = await start('fast', { jobs: { enabled: false, concurrency: 1, perAccount: 1 } }, FAST);
  const { masterKey } = fast.config;
  right = await start('right', { masterKey, jobs: { enabled: true, concurrency: 1, perAccount: 1 } }, systemClock);
  key = await right.mint({ creditNanousd: 10_000_000_000n });
  reader = { accountId: key.accountId, keyId: null, personId: null };
});
afterAll(async () => {
  await right.stop();
  await fast.stop();
  await schema.giveBack();
  rmSync(folder, { recursive: true, force: true });
});

test('a job that a gateway with a fast clock accepted runs at once in another', async () => {
  const { id, createdMs } = await submitJob(fast.running, key, { label: 'at once' });
  expect(createdMs).toBeLessThan(systemClock.nowMs() + HOUR_MS);
  expect(await right.running.jobs.wait(reader, id, WAIT_MS)).toMatchObject({ state: 'succeeded' });
});

test('a gateway with a fast clock finds no job due, too late or old before its time', async () => {
  const soonMs = systemClock.nowMs() + HOUR_MS;
  const terms = { notBeforeMs: soonMs, expiresMs: soonMs + 60_000, resultTtlMs: HOUR_MS };
  const { id } = await submitJob(right.running, key, { label: 'later', terms });
  const { store, clock } = fast.running.books;
  const { jobs } = store;
  expect(await jobs.claim(key.accountId, clock.nowMs(), 1_000, 10)).toEqual([]);
  expect(await jobs.expired(clock.nowMs(), 10)).toEqual([]);
  await right.running.jobs.cancel(reader, id);
  await jobs.sweep(clock.nowMs());
  expect((await jobs.find(id, null))!.contentGoneMs).toBeNull();
  expect(await fast.running.jobs.list(reader, { status: 'cancelled' }, { after: null, limit: 10 })).toHaveLength(1);
});

test('a call of a gateway with a fast clock has the time of the database in its receipt and its id', async () => {
  const response = await fast.post(
    { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 },
    { authorization: `Bearer ${key.secret}` },
  );
  expect(response.status).toBe(200);
  await fast.settled();
  const id = parseId('req_', response.headers.get('x-request-id')!)!;
  const { createdMs } = (await fast.running.books.store.findReceipt(id, key.accountId))!;
  const latestMs = systemClock.nowMs() + HOUR_MS;
  expect([createdMs, idTimeMs(id)].filter((ms) => ms > latestMs)).toEqual([]);
});
