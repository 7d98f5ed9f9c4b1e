import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { Secret } from '../src/kit/secret.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, simHost, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { expectTimersAtRest } from './timers-at-rest.ts';
import { manyTurns, until } from './until.ts';

/** Silent and slow hosts and clients, measured by a clock that only the test moves. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
const STREAM_ASK = { ...ASK, stream: true };
const KEEP_ALIVE = ': keep-alive';

let clock: ManualClock;
let harness: Harness;

async function start(hosts?: Parameters<typeof startHarness>[0]): Promise<void> {
  clock = new ManualClock(Date.UTC(2026, 10, 15));
  harness = await startHarness({ clock, ...hosts });
}

async function expectCleanEnd(): Promise<void> {
  await harness.settled();
  await harness.expectCleanBooks();
  expect(harness.running.gateway.runningCalls.count).toBe(0);
}

function errorOf(event: string | undefined): { code: string; type: string; message: string } {
  return (JSON.parse(event!.slice('data: '.length)) as { error: { code: string; type: string; message: string } })
    .error;
}

describe('with a simulated host', () => {
  let timersAtRest: number;
  const limits = () => harness.running.gateway.limits;
  const openStream = () => new StreamClient(harness.url, STREAM_ASK);
  const openCall = () => new StreamClient(harness.url, ASK);

  beforeAll(async () => {
    await start();
    timersAtRest = clock.pendingTimers;
  });
  beforeEach(() => harness.sim.reset());
  afterEach(async () => {
    harness.sim.reset();
    await expectCleanEnd();
    clock.advance(LIMITS.hostLingerMs);
    await expectTimersAtRest(clock, timersAtRest);
  });
  afterAll(() => harness.stop());

  test('the defaults are those of the documentation', () => {
    expect(limits()).toMatchObject({
      keepAliveMs: 15_000,
      firstFrameMs: 300_000,
      idleMs: 120_000,
      bufferedMs: 300_000,
      streamMs: 1_800_000,
      stallMs: 60_000,
      drainMs: 60_000,
    });
  });

  test("after the host's headers, silence is filled every 15 seconds, between frames", async () => {
    harness.sim.script({ gate: 'chunk', words: 2, tokensPerChunk: 1 });
    const client = openStream();
    await harness.sim.waitForGate('chunk', 1);
    await manyTurns();
    clock.advance(limits().keepAliveMs - 1);
    await manyTurns();
    expect(client.status).toBeNull();
    clock.advance(1);
    await client.has(({ events }) => events.length === 1, 'the first comment');
    expect(client.events).toEqual([KEEP_ALIVE]);
    expect(client.status).toBe(200);
    clock.advance(limits().keepAliveMs);
    await client.has(({ events }) => events.length === 2, 'the second comment');
    harness.sim.release('chunk', 2);
    await client.has(({ content }) => content !== '', 'the first word');
    const soFar = client.events.length;
    // A frame restarts the idle limit.
    clock.advance(limits().keepAliveMs - 1);
    await manyTurns();
    expect(client.events.length).toBe(soFar);
    clock.advance(1);
    await client.has(({ events }) => events.length === soFar + 1, 'the third comment');
    expect(client.events.at(-1)).toBe(KEEP_ALIVE);
    harness.sim.release('chunk', 10);
    await client.end();
    expect([client.ended, client.events.at(-1)]).toEqual(['complete', 'data: [DONE]']);
  });

  test("silence before the host's headers is not filled: the response may still be an HTTP error", async () => {
    harness.sim.script({ gateHead: 'head', status: 400 });
    const client = openStream();
    await harness.sim.waitForGate('head', 1);
    clock.advance(4 * limits().keepAliveMs);
    await manyTurns();
    expect(client.status).toBeNull();
    harness.sim.release('head');
    await client.end();
    expect(client.status).toBe(400);
  });

  test('a host that never sends its head is given up after the first-frame limit, with a 504 that costs nothing', async () => {
    harness.sim.script({ hang: 'before-head' });
    const client = openStream();
    await harness.sim.waitForCalls(1);
    clock.advance(limits().firstFrameMs - 1);
    await manyTurns();
    expect(client.status).toBeNull();
    clock.advance(1);
    await client.end();
    expect(client.status).toBe(504);
    expect(client.headers['x-should-retry']).toBe('false');
    expect(client.headers['x-gateway-cost-nanousd']).toBe('0');
    expect(JSON.parse(client.text)).toMatchObject({ error: { type: 'upstream_error', code: 'host_timeout' } });
    expect(await harness.receipt(client.requestId)).toMatchObject({
      ended: 'timeout',
      http_status: 504,
      cost_nanousd: 0,
    });
    await harness.sim.waitForIdle();
  });

  test('a host that sends its head and no content is given up too, in the stream', async () => {
    harness.sim.script({ hang: 'after-head' });
    const client = openStream();
    await harness.sim.waitForCalls(1);
    await until(() => harness.sim.calls[0]!.status === 200, 'the host has sent its head');
    await manyTurns();
    clock.advance(limits().firstFrameMs);
    await client.end();
    expect([client.status, client.ended]).toEqual([200, 'complete']);
    expect(client.events.slice(0, -1).every((event) => event === KEEP_ALIVE)).toBe(true);
    expect(errorOf(client.events.at(-1))).toMatchObject({ code: 'host_timeout', type: 'upstream_error' });
    expect(client.text).not.toContain('[DONE]');
    expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'timeout', cost_nanousd: 0 });
  });

  test('a host that falls silent after content is given up after the idle limit, and what came is charged', async () => {
    harness.sim.script({ hang: 4, tokensPerChunk: 4, words: 100 });
    const client = openStream();
    await client.has(({ events }) => events.length === 4, 'four frames');
    clock.advance(limits().idleMs - 1);
    await manyTurns();
    expect(client.ended).toBeNull();
    clock.advance(1);
    await client.end();
    expect(errorOf(client.events.at(-1)).code).toBe('host_timeout');
    expect(client.text).not.toContain('[DONE]');
    const receipt = await harness.receipt(client.requestId);
    expect(receipt).toMatchObject({ ended: 'timeout', usage_source: 'estimated' });
    expect(receipt.cost_nanousd).toBeGreaterThan(0);
    await harness.sim.waitForIdle();
  });

  test('a stream that goes on and on is ended at its own limit', async () => {
    harness.sim.script({ gate: 'chunk', words: 100, tokensPerChunk: 1 });
    const client = openStream();
    const stepMs = 100_000;
    await harness.sim.waitForGate('chunk', 1);
    harness.sim.release('chunk');
    for (let passedMs = stepMs; passedMs <= limits().streamMs; passedMs += stepMs) {
      const before = client.content;
      await harness.sim.waitForGate('chunk', 1);
      harness.sim.release('chunk');
      await client.has(({ content }) => content !== before, 'another word');
      expect(client.ended).toBeNull();
      clock.advance(stepMs);
      await manyTurns();
    }
    await client.end();
    expect(errorOf(client.events.at(-1))).toMatchObject({ code: 'host_timeout' });
    expect(errorOf(client.events.at(-1)).message).toContain('1800 seconds');
    expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'timeout', usage_source: 'estimated' });
  });

  test.each(['before-head', 'after-head'] as const)(
    'a buffered answer that does not come (%s) is a 504 after its limit',
    async (hang) => {
      harness.sim.script({ hang });
      const client = openCall();
      await harness.sim.waitForCalls(1);
      await manyTurns();
      clock.advance(limits().bufferedMs - 1);
      await manyTurns();
      expect(client.status).toBeNull();
      clock.advance(1);
      await client.end();
      expect(client.status).toBe(504);
      expect(client.headers['x-should-retry']).toBe('false');
      expect(JSON.parse(client.text).error.message).toContain('300 seconds');
      expect(await harness.receipt(client.requestId)).toMatchObject({
        ended: 'timeout',
        http_status: 504,
        cost_nanousd: 0,
      });
      await harness.sim.waitForIdle();
    },
  );
});

describe('with a host that says nothing but comments', () => {
  let host: Server;
  let answer: ServerResponse | null = null;

  beforeAll(async () => {
    host = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      answer = response;
    });
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    await start({ hosts: () => [simHost({ url })] });
  });
  afterAll(async () => {
    await harness.stop();
    host.closeAllConnections();
    host.close();
  });

  test('they are signs of life, to us and not to the client, who gets comments of our own', async () => {
    const { firstFrameMs, idleMs } = harness.running.gateway.limits;
    const client = new StreamClient(harness.url, STREAM_ASK);
    await until(() => answer !== null, 'the host was asked');
    for (let round = 0; round < 4; round++) {
      answer!.write(': host-ping\n\n');
      await manyTurns();
      clock.advance(firstFrameMs - 1);
      await manyTurns();
    }
    answer!.write(
      'data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}\n\n',
    );
    await client.has(({ content }) => content === 'hi', 'the word');
    for (let round = 0; round < 4; round++) {
      answer!.write(': host-ping\n\n');
      await manyTurns();
      clock.advance(idleMs - 1);
      await manyTurns();
    }
    expect(client.ended).toBeNull();
    expect(client.text).not.toContain('host-ping');
    expect(client.events.filter((event) => event === KEEP_ALIVE).length).toBeGreaterThan(20);
    clock.advance(1);
    await client.end();
    expect(errorOf(client.events.at(-1)).code).toBe('host_timeout');
    await expectCleanEnd();
  });
});

describe('with a host that cannot even be asked', () => {
  beforeAll(() => start({ hosts: (sim) => [{ ...simHost(sim), key: new Secret('no header\ncan carry this') }] }));
  afterAll(() => harness.stop());

  test('the call fails at once, and leaves no timer behind', async () => {
    const timersAtRest = clock.pendingTimers;
    for (const ask of [ASK, STREAM_ASK]) {
      const client = new StreamClient(harness.url, ask);
      await client.end();
      expect([client.status, JSON.parse(client.text).error.code]).toEqual([502, 'host_failed']);
    }
    await expectCleanEnd();
    expect(clock.pendingTimers).toBe(timersAtRest);
  });
});
