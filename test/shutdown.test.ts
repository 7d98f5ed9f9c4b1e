import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type PublicReceipt, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { manyTurns, until } from './until.ts';

/** The gateway gets the signal to stop while calls are running. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
const STREAM_ASK = { ...ASK, stream: true };

let folder: string;
let clock: ManualClock;
let harness: Harness;
let stopping: Promise<void>;
let stopped: boolean;
let key: Record<string, string>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-stop-'));
  clock = new ManualClock(Date.UTC(2026, 10, 15));
  harness = await startHarness({ hosted: true, folder, clock });
  key = { authorization: `Bearer ${(await harness.mint({ creditNanousd: 10_000_000_000n })).secret}` };
  stopped = false;
});
afterEach(async () => {
  await harness.sim.close();
  rmSync(folder, { recursive: true, force: true });
});

function stop(): void {
  stopping = harness.running.stop().then(() => {
    stopped = true;
  });
}

/** What the ledger says after a restart: nothing is open, and no hold had to be released because its owner had died. */
async function readBack(requestIds: readonly string[]): Promise<PublicReceipt[]> {
  const next = await startHarness({ hosted: true, folder, clock });
  expect(next.running.voidedHolds).toBe(0);
  await next.expectCleanBooks();
  const secret = key.authorization!.slice('Bearer '.length);
  const receipts = await Promise.all(requestIds.map((id) => next.receipt(id, secret)));
  await next.stop();
  return receipts;
}

test('calls under way come to their own end, and nobody new is let in', async () => {
  const { sim, url, running } = harness;
  sim.script({ gate: 'chunk', words: 3, tokensPerChunk: 1 });
  const agent = new Agent({ keepAlive: true });
  const stream = new StreamClient(url, STREAM_ASK, key, { agent });
  await sim.waitForGate('chunk', 1);
  sim.release('chunk', 2);
  await stream.has(({ content }) => content !== '', 'the first word');
  const buffered = new StreamClient(url, ASK, key, { agent });
  await sim.waitForGate('chunk', 2);
  stop();
  await until(async () => (await fetch(`${running.operationsUrl}/readyz`)).status === 503, 'it says that it drains');
  expect((await fetch(`${running.operationsUrl}/livez`)).status).toBe(200);
  await expect(fetch(`${url}/v1/catalog`)).rejects.toThrow();
  await manyTurns();
  expect(stopped).toBe(false);
  sim.release('chunk', 20);
  await stopping;
  // The last bytes have left; the clients may not have read them yet.
  await Promise.all([stream.end(), buffered.end()]);
  expect([stream.ended, stream.events.at(-1)]).toEqual(['complete', 'data: [DONE]']);
  expect([buffered.ended, buffered.status]).toEqual(['complete', 200]);
  agent.destroy();
  expect(await readBack([stream.requestId, buffered.requestId])).toMatchObject([
    { ended: 'complete', status: 'settled' },
    { ended: 'complete', status: 'settled' },
  ]);
});

test('calls are taken as before until load balancers have seen that the gateway is not ready', async () => {
  const noticeMs = 3_000;
  const told = await startHarness({ hosted: true, clock, limits: { shutdownNoticeMs: noticeMs } });
  const { secret } = await told.mint({ creditNanousd: 10_000_000_000n });
  const ended = told.stop();
  const ready = async (): Promise<unknown> => (await told.get('/readyz')).json();
  await until(async () => ((await ready()) as { status: string }).status === 'draining', 'it says that it drains');
  clock.advance(noticeMs - 1);
  const answer = await told.post(ASK, { authorization: `Bearer ${secret}` });
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'keep-alive']);
  await answer.arrayBuffer();
  clock.advance(1);
  await ended;
  await expect(ready()).rejects.toThrow();
});

test('who waits for a job is answered when connections end, because they would ask again at once before', async () => {
  const noticeMs = 3_000;
  const told = await startHarness({ hosted: true, clock, limits: { shutdownNoticeMs: noticeMs } });
  const { secret } = await told.mint({ creditNanousd: 10_000_000_000n });
  const bearer = { authorization: `Bearer ${secret}` };
  const notBefore = new Date(clock.nowMs() + 3_600_000).toISOString();
  const job = { endpoint: '/v1/chat/completions', body: ASK, not_before: notBefore };
  const { id } = (await (await told.post(job, bearer, '/v1/jobs')).json()) as { id: string };
  let isAnswered = false;
  const waiting = told.get(`/v1/jobs/${id}?wait=30`, bearer).then((answer) => {
    isAnswered = true;
    return answer;
  });
  await until(() => told.running.gateway.slots.keys === 1, 'it waits');
  const ended = told.stop();
  await until(async () => (await told.get('/readyz')).status === 503, 'it says that it drains');
  await manyTurns();
  expect(isAnswered).toBe(false);
  clock.advance(noticeMs);
  expect(await (await waiting).json()).toMatchObject({ id, status: 'scheduled' });
  await ended;
});

test('what takes too long is cut short, and says so', async () => {
  const { sim, url } = harness;
  sim.script({ hang: 3, tokensPerChunk: 1, words: 100 }, { times: 1 });
  sim.script({ hang: 'before-head' });
  const stream = new StreamClient(url, STREAM_ASK, key);
  await stream.has(({ events }) => events.length === 3, 'three frames');
  const buffered = new StreamClient(url, ASK, key);
  const waiting = new StreamClient(url, STREAM_ASK, key);
  await sim.waitForCalls(3);
  stop();
  clock.advance(harness.running.gateway.limits.stallMs - 1);
  await manyTurns();
  const { shutdownMs } = harness;
  clock.advance(shutdownMs);
  await stopping;
  await Promise.all([stream.end(), buffered.end(), waiting.end()]);
  expect(stream.ended).toBe('complete');
  expect(JSON.parse(stream.events.at(-1)!.slice(6)).error).toMatchObject({ code: 'shutting_down' });
  expect(stream.text).not.toContain('[DONE]');
  for (const { status, text, headers } of [buffered, waiting]) {
    expect([status, JSON.parse(text).error.code, headers['retry-after']]).toEqual([503, 'shutting_down', '1']);
  }
  const [cut, ...unborn] = await readBack([stream.requestId, buffered.requestId, waiting.requestId]);
  expect(cut).toMatchObject({ ended: 'shutdown', usage_source: 'estimated', http_status: 200 });
  expect(cut!.cost_nanousd).toBeGreaterThan(0);
  for (const receipt of unborn) expect(receipt).toMatchObject({ ended: 'shutdown', http_status: 503, cost_nanousd: 0 });
});

/**
 * Between two reads of a host the gateway waits too; it is stuck if it does so whenever one looks. These rounds take
 * longer than a delayed acknowledgement of the kernel.
 */
const ROUNDS_OF_STILLNESS = 200;

test('a client that reads nothing cannot hold the process', async () => {
  const { sim, url } = harness;
  sim.script({ endless: true });
  const client = new StreamClient(url, STREAM_ASK, key, { reading: false });
  await client.head();
  const { stallMs } = harness.running.gateway.limits;
  await until(async () => {
    for (let round = 0; round < ROUNDS_OF_STILLNESS; round++) {
      await manyTurns();
      if (!clock.fallsDueIn(stallMs)) return false;
    }
    return true;
  }, 'the gateway waits for the client, for good');
  stop();
  clock.advance(harness.shutdownMs);
  await until(() => harness.running.gateway.runningCalls.count === 0, 'the call is settled');
  await manyTurns();
  expect(stopped).toBe(false);
  clock.advance(LIMITS.shutdownReadMs);
  await stopping;
  client.read();
  await client.end();
  expect(client.ended).toBe('cut');
  const [receipt] = await readBack([client.requestId]);
  expect(receipt).toMatchObject({ ended: 'shutdown', usage_source: 'estimated' });
});

test('a host that is still read for a client that left is cut off too', async () => {
  const { sim, url } = harness;
  sim.script({ gate: 'chunk', words: 100, tokensPerChunk: 1 });
  const client = new StreamClient(url, STREAM_ASK, key);
  await sim.waitForGate('chunk', 1);
  sim.release('chunk', 2);
  await client.has(({ content }) => content !== '', 'the first word');
  client.leave();
  await manyTurns();
  stop();
  await manyTurns();
  expect([stopped, harness.running.gateway.runningCalls.count]).toEqual([false, 1]);
  clock.advance(harness.shutdownMs);
  await stopping;
  const [receipt] = await readBack([client.requestId]);
  expect(receipt).toMatchObject({ ended: 'client_gone', usage_source: 'estimated' });
});

test('an idle connection that is kept does not hold the process', async () => {
  const agent = new Agent({ keepAlive: true });
  await new Promise((resolve, reject) => {
    const sent = request(`${harness.url}/v1/catalog`, { agent }, (response) => response.resume().on('end', resolve));
    sent.on('error', reject).end();
  });
  stop();
  await stopping;
  agent.destroy();
});
