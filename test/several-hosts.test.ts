import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { healthSchema, readHealth } from '../src/config/health.ts';
import { type SimScript, startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { type Harness, simHost, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { manyTurns } from './until.ts';

/** One model on two hosts: the second is asked only while nothing has been sent to the client, and only one answer is charged. */

/** The outcome of one call does not affect the next: host-choice.test.ts is about health. */
const FORGETFUL = readHealth(
  healthSchema.parse({ consecutive_failures: 1_000, failure_calls_min: 10_000, limited_max_ms: 1, key_aside_ms: 1 }),
);

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };

let second: Sim;
let harness: Harness;

beforeAll(async () => {
  second = await startSim();
  const row = loadSimulatedFile().models.find(({ id }) => id === 'sim-gpt')!;
  const hosts = ['sim', 'spare'].map((host) => ({ ...row.hosts[0]!, host }));
  const cheaper = { ...hosts[0]!, price: { input: 1, output: 1 } };
  harness = await startHarness({
    config: { models: [{ ...row, hosts: [hosts[1]!, cheaper] }], health: FORGETFUL },
    hosts: (sim) => [simHost(sim), simHost(second, { name: 'spare' })],
  });
});
beforeEach(() => {
  harness.sim.reset();
  second.reset();
});
afterEach(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(async () => {
  await harness.stop();
  await second.close();
});

async function call(stream: boolean): Promise<StreamClient> {
  const client = new StreamClient(harness.url, { ...ASK, stream });
  await client.end();
  return client;
}

describe.each([false, true])('stream: %s', (stream) => {
  test.each<[string, SimScript]>([
    ['fails', { status: 500 }],
    ['is overloaded', { status: 503 }],
    ['is at its rate limit', { status: 429 }],
    ['does not take our key', { status: 401 }],
    ['does not know the model', { status: 404 }],
    ['hangs up before its head', { gateHead: 'head' }],
  ])('a first host that %s is followed by the second, whose answer is paid', async (what, script) => {
    harness.sim.script(script);
    const client = new StreamClient(harness.url, { ...ASK, stream });
    if (what.startsWith('hangs')) {
      await harness.sim.waitForGate('head', 1);
      harness.sim.reset();
    }
    await client.end();
    expect([client.status, second.received()]).toEqual([200, 1]);
    const receipt = await harness.newestReceipt();
    expect(receipt).toMatchObject({ ended: 'complete', host: 'spare', attempts: 2, usageSource: 'reported' });
    const alone = await call(stream);
    expect((await harness.newestReceipt()).costNanousd).toBe(receipt.costNanousd);
    expect(alone.status).toBe(200);
  });

  test.each([400, 413, 422])('a %i is about the request, so no other host is asked', async (status) => {
    harness.sim.script({ status });
    expect((await call(stream)).status).toBe(400);
    expect(second.received()).toBe(0);
    expect(await harness.newestReceipt()).toMatchObject({ host: 'sim', attempts: 1, costNanousd: 0n });
  });

  test.each<[number, number, number, string]>([
    [500, 500, 502, 'host_failed'],
    [500, 429, 502, 'host_failed'],
    [429, 500, 502, 'host_failed'],
    [429, 429, 429, 'rate_limit_exceeded'],
    [401, 429, 502, 'host_failed'],
    [500, 400, 400, 'sim_error'],
  ])('%i and %i are one failure: %i %s', async (first, other, status, code) => {
    harness.sim.script({ status: first });
    second.script({ status: other, errorBody: { error: { message: 'no', code: 'sim_error' } } });
    const client = await call(stream);
    expect([client.status, JSON.parse(client.text).error.code]).toEqual([status, code]);
    expect(client.headers['retry-after']).toBe(status === 429 ? '1' : undefined);
    expect(await harness.newestReceipt()).toMatchObject({ host: 'spare', attempts: 2, costNanousd: 0n });
  });

  test.each<[string, number, bigint]>([
    ['our key was refused', 401, 0n],
    ['a host failed', 500, 1n],
  ])('a rate limit after %s adds nothing to the loss', async (_what, first, holds) => {
    harness.sim.script({ status: first });
    second.script({ status: 429 });
    expect((await call(stream)).status).toBe(502);
    const { lossNanousd, heldNanousd } = await harness.newestReceipt();
    expect(lossNanousd).toBe(holds * heldNanousd);
  });

  test('a client that is gone needs no second host', async () => {
    harness.sim.script({ gateHead: 'head', status: 500 });
    const client = new StreamClient(harness.url, { ...ASK, stream });
    await harness.sim.waitForGate('head', 1);
    client.leave();
    await manyTurns();
    harness.sim.release('head');
    await harness.settled();
    expect(second.received()).toBe(0);
    expect(await harness.newestReceipt()).toMatchObject({ httpStatus: 499, attempts: 1, costNanousd: 0n });
  });
});

test('a host that has begun a whole answer is the last: it bills for it', async () => {
  harness.sim.script({ cutAtByte: 50 });
  expect((await call(false)).status).toBe(502);
  expect(second.received()).toBe(0);
});

test('a stream moves to another host after an error before any content, but not after its first content was sent', async () => {
  for (const [times, errorAfterChunks] of [0, 1].entries()) {
    harness.sim.script({ errorAfterChunks });
    expect((await call(true)).events.at(-1)).toBe('data: [DONE]');
    expect(second.received()).toBe(times + 1);
  }
  harness.sim.script({ errorAfterChunks: 2, gate: 'chunk' });
  const client = new StreamClient(harness.url, { ...ASK, stream: true });
  await harness.sim.waitForGate('chunk', 1);
  harness.sim.release('chunk', 2);
  await client.has(({ content }) => content !== '', 'the first content');
  harness.sim.release('chunk');
  await client.end();
  expect([client.status, client.events.length, second.received()]).toEqual([200, 3, 2]);
  expect(client.text).toContain('host_failed');
});

test('what two hosts give is one stream: one id, one role, one finish', async () => {
  harness.sim.script({ status: 500 });
  const { events } = await call(true);
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)));
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.filter(({ choices }) => choices[0]?.delta.role !== undefined)).toHaveLength(1);
  expect(chunks.filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1);
});
