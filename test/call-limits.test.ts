import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type MintedKey, NO_RATE_LIMITS, startHarness } from './harness.ts';
import { callRaw } from './raw-client.ts';
import { StreamClient } from './stream-client.ts';
import { manyTurns, until } from './until.ts';

/** How much one key, and all keys together, may request. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'hello' }] };
const bearer = ({ secret }: MintedKey) => ({ authorization: `Bearer ${secret}` });

let clock: ManualClock;
let harness: Harness;
let key: MintedKey;
let other: MintedKey;

async function start(config: NonNullable<Parameters<typeof startHarness>[0]>['config'], hosted = true): Promise<void> {
  clock = new ManualClock(Date.UTC(2026, 10, 15));
  harness = await startHarness({ hosted, clock, ...(config && { config }) });
}

async function expectTooMany(response: Response, words: string): Promise<void> {
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('x-should-retry')).toBeNull();
  expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
  expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/);
  expect([...response.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  const { error } = (await response.json()) as { error: Record<string, string> };
  expect(error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
  expect(error.message).toContain(words);
}

async function metric(line: RegExp): Promise<string | undefined> {
  const text = await (await fetch(`${harness.running.operationsUrl ?? harness.url}/metrics`)).text();
  return line.exec(text)?.[1];
}

describe('requests of one key', () => {
  beforeAll(() =>
    start({ rateLimit: { ...NO_RATE_LIMITS, requestsPerSecond: 2, burst: 3, calls: null, streams: null } }),
  );
  beforeEach(async () => {
    key = await harness.mint();
    other = await harness.mint();
  });
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  const spend = async (routes: readonly (() => Promise<Response>)[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const ask of routes) statuses.push((await ask()).status);
    return statuses;
  };

  test('are let in as a burst, then one at a time as time passes, whatever they ask for', async () => {
    const asks = [
      () => harness.post(ASK, bearer(key)),
      () => harness.get('/v1/models', bearer(key)),
      () => harness.get('/v1/nothing', bearer(key)),
    ];
    expect(await spend(asks)).toEqual([200, 200, 404]);
    await expectTooMany(await harness.post(ASK, bearer(key)), '2 requests per second, with bursts of up to 3');
    await expectTooMany(await harness.get('/v1/balance', bearer(key)), '2 requests per second');
    await expectTooMany(await harness.get('/v1/nothing', bearer(key)), '2 requests per second');
    clock.advance(499);
    expect((await harness.post(ASK, bearer(key))).status).toBe(429);
    clock.advance(1);
    expect((await harness.post(ASK, bearer(key))).status).toBe(200);
    expect((await harness.post(ASK, bearer(key))).status).toBe(429);
    expect((await harness.post(ASK, bearer(other))).status).toBe(200);
  });

  test('are counted after the key is known and before the body is looked at', async () => {
    await spend([1, 2, 3].map(() => () => harness.get('/v1/models', bearer(key))));
    const sent = harness.sim.received();
    await expectTooMany(await harness.post('nonsense', { ...bearer(key), 'content-type': 'text/plain' }), '2 requests');
    await expectTooMany(await harness.post(ASK, { ...bearer(key), 'content-encoding': 'gzip' }), '2 requests');
    expect((await harness.post(ASK, { authorization: `Bearer ${key.secret}x` })).status).toBe(401);
    expect((await harness.post(ASK, { ...bearer(key), 'x-api-key': other.secret })).status).toBe(401);
    expect(harness.sim.received()).toBe(sent);
    // Requests with an invalid key do not count against the limits of a real key.
    expect((await harness.get('/v1/models', bearer(other))).status).toBe(200);
  });

  test('are none where no key is needed', async () => {
    for (let at = 0; at < 20; at++) expect((await harness.get('/v1/catalog', bearer(key))).status).toBe(200);
    expect((await harness.get('/v1/models', bearer(key))).status).toBe(200);
  });

  test('come back in the shape of the wire they were meant for', async () => {
    await spend([1, 2, 3].map(() => () => harness.get('/v1/models', bearer(key))));
    for (const path of ['/v1/messages', '/v1/messages/count_tokens', '/messages']) {
      const response = await harness.post({}, bearer(key), path);
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
        request_id: response.headers.get('request-id'),
      });
    }
  });

  test('are a RateLimitError to the official SDK', async () => {
    const client = harness.openai(key.secret, { maxRetries: 0 });
    for (let at = 0; at < 3; at++) await client.models.list();
    const error = await client.models.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  });

  test('that were too many are counted', async () => {
    const before = Number((await metric(/tollgate_turned_away_total\{reason="rate"\} (\d+)/)) ?? 0);
    await spend([1, 2, 3, 4, 5].map(() => () => harness.get('/v1/models', bearer(key))));
    expect(await metric(/tollgate_turned_away_total\{reason="rate"\} (\d+)/)).toBe(String(before + 2));
  });
});

describe('the bodies of one key', () => {
  const BYTES = 10_000;
  const MEMBERS = 1_000;

  beforeAll(() =>
    start({ rateLimit: { ...NO_RATE_LIMITS, bodyBytesPerSecond: BYTES, jsonMembersPerSecond: MEMBERS } }),
  );
  beforeEach(async () => {
    key = await harness.mint({ creditNanousd: 10n ** 12n });
    other = await harness.mint({ creditNanousd: 10n ** 12n });
  });
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  const long = (bytes: number) => ({ ...ASK, messages: [{ role: 'user', content: 'x'.repeat(bytes) }] });
  const crowded = (keys: number) => ({
    ...ASK,
    metadata: Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, 1])),
  });

  async function refusedFor(response: Response, words: string): Promise<number> {
    expect(response.status).toBe(429);
    const { error } = (await response.json()) as { error: Record<string, string> };
    expect(error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(error.message).toContain(words);
    return Number(response.headers.get('retry-after'));
  }

  test('pass until their bytes are used up; after the time that Retry-After gives, they pass again', async () => {
    expect((await harness.post(long(60_000), bearer(key))).status).toBe(200);
    const waitS = await refusedFor(await harness.post(long(30_000), bearer(key)), 'bytes a second');
    expect(waitS).toBe(7);
    expect((await harness.post(long(10_000), bearer(key))).status).toBe(200);
    expect((await harness.post(long(30_000), bearer(other))).status).toBe(200);
    clock.advance(8_000);
    expect((await harness.post(long(30_000), bearer(key))).status).toBe(200);
    expect(await metric(/^tollgate_turned_away_total\{reason="body_bytes"\} (\d+)$/m)).toBe('1');
  });

  test('are counted in chunks too, and any size is admitted after a pause', async () => {
    const options = { headers: bearer(key), chunked: true };
    const send = (bytes: number) => callRaw(`${harness.url}/v1/chat/completions`, JSON.stringify(long(bytes)), options);
    expect((await send(200_000)).status).toBe(200);
    expect((await send(100)).status).toBe(429);
    clock.advance(21_000);
    expect((await send(200_000)).status).toBe(200);
  });

  test('may have a limited number of JSON members; a body that exceeds what is left is refused and charged', async () => {
    expect((await harness.post(crowded(200), bearer(key))).status).toBe(200);
    const waitS = await refusedFor(await harness.post(crowded(2_000), bearer(key)), 'JSON members a second');
    expect(waitS).toBe(3);
    expect(await refusedFor(await harness.post(ASK, bearer(key)), 'JSON members a second')).toBe(3);
    expect((await harness.post(ASK, bearer(other))).status).toBe(200);
    clock.advance(3_000);
    expect((await harness.post(crowded(200), bearer(key))).status).toBe(200);
  });

  test('cost more if one object has many keys', async () => {
    expect((await harness.post(crowded(400), bearer(key))).status).toBe(200);
    expect(await refusedFor(await harness.post(ASK, bearer(key)), 'JSON members a second')).toBe(4);
  });
});

describe('on this machine alone', () => {
  beforeAll(() =>
    start({ rateLimit: { ...NO_RATE_LIMITS, requestsPerSecond: 2, burst: 3, calls: null, streams: 1 } }, false),
  );
  afterAll(() => harness.stop());

  test('who has no key has no limit, and who has one has', async () => {
    for (let at = 0; at < 10; at++) expect((await harness.get('/v1/models')).status).toBe(200);
    key = await harness.mint();
    const statuses: number[] = [];
    for (let at = 0; at < 4; at++) statuses.push((await harness.get('/v1/models', bearer(key))).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe('streams of one key', () => {
  const STREAM = { ...ASK, stream: true };

  beforeAll(() =>
    start({ rateLimit: { ...NO_RATE_LIMITS, requestsPerSecond: null, burst: 1, calls: null, streams: 2 } }),
  );
  beforeEach(async () => {
    key = await harness.mint();
    other = await harness.mint();
  });
  afterEach(async () => {
    harness.sim.reset();
    await harness.settled();
    await until(() => harness.running.gateway.runningCalls.count === 0, 'every call is over');
    expect(harness.running.gateway.slots.keys).toBe(0);
    await harness.expectCleanBooks();
  });
  afterAll(() => harness.stop());

  async function openTwo(): Promise<[StreamClient, StreamClient]> {
    harness.sim.script({ gate: 'chunk', words: 2, tokensPerChunk: 1 });
    const clients = [1, 2].map(() => new StreamClient(harness.url, STREAM, bearer(key)));
    await harness.sim.waitForGate('chunk', 2);
    return clients as [StreamClient, StreamClient];
  }

  test('run side by side up to their number; whole answers and other keys are not among them', async () => {
    const [first, second] = await openTwo();
    const received = harness.sim.received();
    await expectTooMany(await harness.post(STREAM, bearer(key)), '2 streams');
    const messages = { model: 'sim-claude', max_tokens: 5, messages: ASK.messages, stream: true };
    expect(await (await harness.post(messages, bearer(key), '/v1/messages')).json()).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', param: 'stream' },
    });
    expect(harness.sim.received()).toBe(received);
    harness.sim.script({});
    expect((await harness.post(ASK, bearer(key))).status).toBe(200);
    const elsewhere = new StreamClient(harness.url, STREAM, bearer(other));
    await elsewhere.end();
    expect(elsewhere.status).toBe(200);
    harness.sim.release('chunk', 100);
    await Promise.all([first.end(), second.end()]);
    await harness.settled();
    const next = new StreamClient(harness.url, STREAM, bearer(key));
    await next.end();
    expect([first.status, second.status, next.status]).toEqual([200, 200, 200]);
    expect(await metric(/tollgate_turned_away_total\{reason="streams"\} (\d+)/)).toBe('2');
  });

  test('that were refused or never began take no slot', async () => {
    for (let at = 0; at < 5; at++) {
      expect((await harness.post({ ...STREAM, max_tokens: -1 }, bearer(key))).status).toBe(400);
      expect((await harness.post(STREAM, { ...bearer(key), 'x-gateway-max-cost-nanousd': '1' })).status).toBe(402);
      harness.sim.script({ status: 400 }, { times: 1 });
      expect((await harness.post(STREAM, bearer(key))).status).toBe(400);
    }
  });

  test('whose client is gone keep their slot until the host has finished', async () => {
    harness.sim.script({ gate: 'chunk', words: 5, tokensPerChunk: 1 });
    const first = new StreamClient(harness.url, STREAM, bearer(key));
    await harness.sim.waitForGate('chunk', 1);
    harness.sim.release('chunk', 2);
    await first.has(({ content }) => content !== '', 'a word');
    const second = new StreamClient(harness.url, STREAM, bearer(key));
    await harness.sim.waitForGate('chunk', 2);
    first.leave();
    await manyTurns();
    expect((await harness.post(STREAM, bearer(key))).status).toBe(429);
    harness.sim.release('chunk', 100);
    await second.end();
    await harness.settled();
    await until(() => harness.running.gateway.slots.keys === 0, 'both slots are free');
  });
});

describe('calls of one key', () => {
  const JOB = { endpoint: '/v1/chat/completions', body: { ...ASK, max_tokens: 5 } };
  const COUNT = { model: 'sim-claude', messages: ASK.messages };

  beforeAll(async () => {
    await start({ rateLimit: { ...NO_RATE_LIMITS, requestsPerSecond: null, burst: 1, calls: 1, streams: null } });
    key = await harness.mint();
    other = await harness.mint();
  });
  afterEach(async () => {
    await until(() => harness.running.gateway.slots.keys === 0, 'the slot is free');
  });
  afterAll(() => harness.stop());

  test('include requests that wait for a job', async () => {
    const notBefore = new Date(clock.nowMs() + 3_600_000).toISOString();
    const accepted = await harness.post({ ...JOB, not_before: notBefore }, bearer(key), '/v1/jobs');
    const { id } = (await accepted.json()) as { id: string };
    const leaving = new AbortController();
    const terms = { headers: bearer(key), signal: leaving.signal };
    const waiting = fetch(`${harness.url}/v1/jobs/${id}?wait=30`, terms).catch(() => null);
    await until(() => harness.running.gateway.slots.keys === 1, 'it waits');
    await expectTooMany(await harness.get(`/v1/jobs/${id}?wait=30`, bearer(key)), '1 calls');
    expect((await harness.get(`/v1/jobs/${id}`, bearer(key))).status).toBe(200);
    expect((await harness.post(ASK, bearer(other))).status).toBe(200);
    leaving.abort();
    await waiting;
  });

  test('include prompts that a host counts', async () => {
    harness.sim.script({ gateHead: 'head' }, { times: 1 });
    const counting = harness.post(COUNT, bearer(key), '/v1/messages/count_tokens');
    await harness.sim.waitForGate('head', 1);
    expect((await harness.post(COUNT, bearer(key), '/v1/messages/count_tokens')).status).toBe(429);
    harness.sim.release('head', 1);
    expect((await counting).status).toBe(200);
  });
});

describe('more calls than can be served', () => {
  const LOAD = {
    eventLoopLagMs: null,
    heapShare: null,
    residentBytes: null,
    connections: 100,
    callsUnderWay: 1,
    ledgerDepth: null,
  };

  beforeAll(async () => {
    await start({ loadLimits: LOAD });
    key = await harness.mint();
    harness.sim.script({ gateHead: 'head' });
  });
  afterAll(async () => {
    await harness.settled();
    await harness.expectCleanBooks();
    await harness.stop();
  });

  test('are turned away before anything is read or held, and let in again', async () => {
    const running = [1, 2].map(() => new StreamClient(harness.url, ASK, bearer(key)));
    await harness.sim.waitForGate('head', 2);
    const response = await harness.post('not even JSON', bearer(key));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(response.headers.get('x-should-retry')).toBeNull();
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(await response.json()).toMatchObject({ error: { type: 'upstream_error', code: 'overloaded' } });
    const onMessages = await harness.post('not even JSON', bearer(key), '/v1/messages');
    expect([onMessages.status, onMessages.headers.get('retry-after')]).toEqual([529, '1']);
    expect(await onMessages.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    expect((await harness.post(ASK)).status).toBe(401);
    expect((await harness.get('/v1/balance', bearer(key))).status).toBe(200);
    expect(harness.running.books.ledger.openHolds).toBe(2);
    expect(await metric(/tollgate_turned_away_total\{reason="calls"\} (\d+)/)).toBe('2');
    clock.advance(LIMITS.loadSampleMs);
    expect(harness.log.at(-1)).toMatchObject({ level: 'warn', reason: 'calls' });
    harness.sim.release('head', 10);
    harness.sim.script({});
    await Promise.all(running.map((client) => client.end()));
    await until(() => harness.running.gateway.runningCalls.count === 0, 'the calls are over');
    clock.advance(LIMITS.loadSampleMs);
    expect(harness.log.at(-1)).toMatchObject({ msg: 'Load is back to normal: calls are admitted again.' });
    expect((await harness.post(ASK, bearer(key))).status).toBe(200);
    expect(running.map(({ status }) => status)).toEqual([200, 200]);
  });
});
