import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** What is around the bodies of a wire: headers of hosts and of our own, and the routes of a wire. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const CHAT = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }] };
const MESSAGES = { ...CHAT, model: 'sim-claude', max_tokens: 100 };

describe('a host’s word about when to come back', () => {
  const headers = {
    'retry-after': '48',
    'retry-after-ms': '0',
    'anthropic-ratelimit-requests-remaining': '0',
    'x-ratelimit-remaining-tokens': '0',
  };

  test('has no meaning on a successful response, and never reaches the caller', async () => {
    harness.sim.script({ headers });
    const response = await harness.post(MESSAGES, {}, '/v1/messages');
    expect(response.status).toBe(200);
    for (const name of Object.keys(headers)) expect([name, response.headers.get(name)]).toEqual([name, null]);
  });

  test('is replaced by our own on a 429, because the limit is ours', async () => {
    harness.sim.script({ status: 429, headers });
    const response = await harness.post(CHAT);
    expect(response.status).toBe(429);
    expect([response.headers.get('retry-after'), response.headers.get('retry-after-ms')]).toEqual(['1', null]);
  });
});

test('a stream must not be cached, buffered or compressed on its way', async () => {
  const response = await harness.post({ ...CHAT, stream: true }, { 'accept-encoding': 'gzip, br' });
  const names = ['content-type', 'cache-control', 'content-encoding', 'x-accel-buffering'];
  expect(names.map((name) => response.headers.get(name))).toEqual([
    'text/event-stream; charset=utf-8',
    'no-cache',
    null,
    'no',
  ]);
  await response.text();
  await harness.settled();
});

test('a retry of an SDK is a call like any other: it may say so, and has a receipt of its own', async () => {
  const ids = new Set<string | null>();
  for (const count of ['0', '1']) {
    const response = await harness.post(CHAT, { 'x-stainless-retry-count': count, 'x-stainless-timeout': '600' });
    expect(response.status).toBe(200);
    ids.add(response.headers.get('x-gateway-request-id'));
  }
  expect(ids.size).toBe(2);
});

describe('routes of a stored response', () => {
  test.each([
    ['GET', '/v1/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1'],
    ['POST', '/v1/responses/resp_1/cancel'],
    ['GET', '/v1/responses/resp_1/input_items'],
    ['POST', '/v1/responses/compact'],
  ])('%s %s is refused in JSON, by its cause', async (method, path) => {
    const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
    const response = await fetch(harness.url + path, { method, ...body });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/json');
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('unsupported_route');
    expect(error.message).toContain('Nothing is stored');
  });

  test('while the route itself names its method', async () => {
    expect((await harness.get('/v1/responses')).headers.get('allow')).toBe('POST');
  });
});

test('vectors cannot be longer than the model makes them', async () => {
  const response = await harness.post({ model: 'sim-embed', input: 'x', dimensions: 100_000 }, {}, '/v1/embeddings');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: 'dimensions' } });
});
