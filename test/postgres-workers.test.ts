import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workerOf } from '../campaigns/workers/world.ts';
import { readStore } from '../src/config/store.ts';
import { type Harness, NO_RATE_LIMITS, startHarness } from './harness.ts';
import { freshSchema } from './postgres.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** On PostgreSQL every worker has a place of its own in the store, as a process has. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };
const CALLS = 40;
const AFFORDABLE = 11;

let folder: string;
let harness: Harness;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-workers-'));
  const config = {
    store: readStore(await freshSchema()),
    rateLimit: { ...NO_RATE_LIMITS, requestsPerSecond: 1000, burst: 1000 },
  };
  harness = await startHarness({ workers: 2, hosted: true, folder, config });
});
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true });
});

test('of the calls that arrive at once at both workers, exactly those with money pass', async () => {
  const { secret } = await harness.mint();
  const bearer = { authorization: `Bearer ${secret}` };
  const response = await harness.post(ASK, bearer);
  const { held_nanousd: held } = await harness.receipt(response.headers.get('x-gateway-request-id')!, secret);
  const worst = BigInt(held);
  const key = await harness.mint({ creditNanousd: BigInt(AFFORDABLE) * worst + worst / 2n });
  harness.sim.reset();
  harness.sim.script({ words: 3, gateHead: 'barrier' });
  const headers = { authorization: `Bearer ${key.secret}` };
  const clients = Array.from({ length: CALLS }, () => new StreamClient(harness.url, ASK, headers));
  const ended = () => clients.filter((client) => client.ended !== null).length;
  await until(() => ended() + harness.sim.received() >= CALLS, 'every call is admitted or refused');
  const admitted = harness.sim.received();
  harness.sim.release('barrier', admitted);
  await until(() => ended() === CALLS, 'every call has ended');
  const statuses = clients.map(({ status }) => status);
  expect([admitted, statuses.filter((status) => status === 200).length]).toEqual([AFFORDABLE, AFFORDABLE]);
  expect(statuses.filter((status) => status === 402).length).toBe(CALLS - AFFORDABLE);
  expect(new Set(clients.map(({ requestId }) => workerOf(requestId))).size).toBe(2);
  await harness.expectCleanBooks();
});
