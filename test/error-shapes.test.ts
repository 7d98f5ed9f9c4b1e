import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { callRaw, type RawOptions } from './raw-client.ts';

/** A client gets every error in the format of its own wire, whichever part of the gateway refused the request. */

const ASK = { model: 'sim-claude', max_tokens: 20, messages: [{ role: 'user' as const, content: 'hello' }] };

let local: Harness;
let hosted: Harness;
let key: MintedKey;

beforeAll(async () => {
  [local, hosted] = await Promise.all([startHarness(), startHarness({ hosted: true })]);
  key = await hosted.mint({ models: ['sim-claude'] });
});
beforeEach(() => local.sim.reset());
afterEach(() => local.expectCleanBooks());
afterAll(() => Promise.all([local.stop(), hosted.stop()]));

interface Case {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly options?: RawOptions;
}

const TOO_LARGE = 'x'.repeat(LIMITS.requestBodyBytesMax + 1);
const OLD = { 'anthropic-version': '2023-06-01' };

const ON_MESSAGES: readonly (readonly [string, Case, status: number, type: string, code: string])[] = [
  ['a path beneath', { path: '/v1/messages/nothing' }, 404, 'invalid_request_error', 'unknown_url'],
  ['a path beneath, without prefix', { path: '/messages/a/b' }, 404, 'invalid_request_error', 'unknown_url'],
  ['a base URL with /v1', { path: '/v1/v1/messages' }, 404, 'invalid_request_error', 'unknown_url'],
  ['a refused route', { path: '/v1/messages/batches' }, 404, 'invalid_request_error', 'unsupported_route'],
  ['another method', { method: 'GET', path: '/v1/messages' }, 405, 'invalid_request_error', 'method_not_allowed'],
  [
    'another method of counting',
    { method: 'PUT', path: '/api/v1/messages/count_tokens' },
    405,
    'invalid_request_error',
    'method_not_allowed',
  ],
  ['a body too large', { path: '/v1/messages', body: TOO_LARGE }, 413, 'request_too_large', 'request_too_large'],
  [
    'another type',
    { path: '/v1/messages', body: ASK, options: { headers: { 'content-type': 'text/plain' } } },
    415,
    'invalid_request_error',
    'unsupported_media_type',
  ],
  [
    'an encoded body',
    { path: '/v1/messages', body: ASK, options: { headers: { 'content-encoding': 'br' } } },
    415,
    'invalid_request_error',
    'unsupported_media_type',
  ],
  ['an unclear path', { path: '/v1/messages/a%5cb' }, 400, 'invalid_request_error', 'bad_request'],
  [
    'too many headers',
    { path: '/v1/messages', body: ASK, options: { headers: manyHeaders() } },
    431,
    'invalid_request_error',
    'request_head_too_large',
  ],
  [
    'a foreign host',
    { path: '/v1/messages', body: ASK, options: { headers: { host: 'evil.example' } } },
    403,
    'permission_error',
    'forbidden_host',
  ],
  [
    'a foreign page',
    { path: '/v1/messages', body: ASK, options: { headers: { origin: 'http://evil.example' } } },
    403,
    'permission_error',
    'forbidden_origin',
  ],
  ['no JSON', { path: '/v1/messages', body: '{' }, 400, 'invalid_request_error', 'invalid_request_body'],
  [
    'another version',
    { path: '/v1/messages', body: ASK, options: { headers: { 'anthropic-version': '2020-01-01' } } },
    400,
    'invalid_request_error',
    'invalid_header',
  ],
  [
    'models of another version',
    { method: 'GET', path: '/v1/models', options: { headers: { 'anthropic-version': '2020-01-01' } } },
    400,
    'invalid_request_error',
    'invalid_header',
  ],
  [
    'a model of another version',
    { method: 'GET', path: '/models/sim-gpt', options: { headers: { 'messages-version': 'latest' } } },
    400,
    'invalid_request_error',
    'invalid_header',
  ],
  [
    'versions that differ',
    { method: 'GET', path: '/v1/models', options: { headers: { ...OLD, 'messages-version': '2026-10-21' } } },
    400,
    'invalid_request_error',
    'invalid_header',
  ],
  [
    'an invalid model',
    { method: 'GET', path: '/v1/models/nobody', options: { headers: OLD } },
    404,
    'invalid_request_error',
    'model_not_found',
  ],
  [
    'another method on models',
    { method: 'DELETE', path: '/v1/models', options: { headers: OLD } },
    405,
    'invalid_request_error',
    'method_not_allowed',
  ],
];

function manyHeaders(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: LIMITS.requestHeadersMax }, (_, at) => [`x-${at}`, 'a']));
}

describe('a client of the messages wire is refused in its own shape', () => {
  test.each(ON_MESSAGES)('%s', async (_, { path, method = 'POST', body, options }, status, type, code) => {
    const answer = await callRaw(local.url + path, body ?? (method === 'POST' ? {} : undefined), {
      method,
      ...options,
    });
    expect(answer.status).toBe(status);
    const { error, ...rest } = JSON.parse(answer.text) as { error: Record<string, unknown> };
    expect(rest).toEqual({ type: 'error', request_id: answer.headers['request-id'] });
    expect(Object.keys(error)).toEqual(['type', 'code', 'param', 'message']);
    expect(error).toMatchObject({ type, code });
    expect(answer.headers['request-id']).toMatch(/^req_/);
    expect(answer.headers['x-gateway-cost-nanousd']).toBe('0');
    expect(local.sim.received()).toBe(0);
  });

  test.each(['/v1/messages', '/v1/messages/count_tokens', '/v1/messages/nothing', '/messages'])(
    'without a key, at %s',
    async (path) => {
      const response = await hosted.post('not even JSON', {}, path);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error', code: 'invalid_api_key' },
      });
    },
  );

  test('without a key, at the list of models', async () => {
    const response = await hosted.get('/v1/models', OLD);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });

  test('a model its key may not use', async () => {
    const response = await hosted.get('/v1/models/sim-gpt', { ...OLD, 'x-api-key': key.secret });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', param: 'model' },
    });
  });

  test('versions are listed to who names another', async () => {
    for (const path of ['/v1/models', '/v1/models/sim-gpt']) {
      const text = await (await local.get(path, { 'anthropic-version': '2020-01-01' })).text();
      expect(text).toContain('2023-06-01, 2026-10-21');
    }
    for (const version of ['2023-06-01', '2026-10-21']) {
      expect((await local.get('/v1/models', { 'anthropic-version': version })).status).toBe(200);
      expect((await local.get('/v1/models/sim-gpt', { 'messages-version': version })).status).toBe(200);
    }
  });

  test.each([503, 529])(
    'a host that is overloaded (%i) is an overloaded service, and costs nothing',
    async (status) => {
      for (const stream of [false, true]) {
        local.sim.script({ status });
        const response = await local.post({ ...ASK, stream }, {}, '/v1/messages');
        expect([response.status, response.headers.get('retry-after')]).toEqual([529, '1']);
        expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
        expect(await response.json()).toMatchObject({
          type: 'error',
          error: { type: 'overloaded_error', code: 'overloaded' },
          request_id: response.headers.get('request-id'),
        });
        const id = response.headers.get('request-id')!;
        expect((await local.receipt(id)).http_status).toBe(529);
        expect(local.log.find((line) => line.request_id === id && line.status !== undefined)?.status).toBe(529);
      }
    },
  );

  test('the official SDK knows them by their types', async () => {
    const client = new Anthropic({ baseURL: hosted.url, apiKey: 'wrong', maxRetries: 0 });
    const denied = await client.messages.create(ASK).catch((error: unknown) => error);
    expect(denied).toBeInstanceOf(Anthropic.AuthenticationError);
    const unknown = await client
      .withOptions({ apiKey: key.secret })
      .models.retrieve('sim-gpt')
      .catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(Anthropic.NotFoundError);
    expect((unknown as InstanceType<typeof Anthropic.NotFoundError>).requestID).toMatch(/^req_/);
  });
});

describe('a client of any other wire keeps the common shape', () => {
  test.each([
    ['GET', '/v1/models/nobody', 404],
    ['DELETE', '/v1/models', 405],
    ['GET', '/v1/chat/completions', 405],
    ['POST', '/v1/chat/completions/1', 404],
    ['POST', '/v1/messagesx', 404],
    ['GET', '/v1/nothing', 404],
  ])('%s %s', async (method, path, status) => {
    const answer = await callRaw(local.url + path, method === 'POST' ? {} : undefined, { method });
    expect(answer.status).toBe(status);
    expect(Object.keys(JSON.parse(answer.text))).toEqual(['error']);
    expect(Object.keys(JSON.parse(answer.text).error)).toEqual(['message', 'type', 'code', 'param']);
  });

  test.each([503, 529])('a host that is overloaded (%i) is a 503 there', async (status) => {
    local.sim.script({ status });
    const ask = { model: 'sim-gpt', messages: ASK.messages };
    for (const stream of [false, true]) {
      const response = await local.post({ ...ask, stream }, {}, '/v1/chat/completions');
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await response.json()).toMatchObject({ error: { type: 'upstream_error', code: 'overloaded' } });
    }
  });
});

test('whoever opens the address of the gateway in a browser is told where the console is', async () => {
  const { error } = (await (await local.get('/')).json()) as { error: { message: string } };
  expect(error.message).toContain('The console is at /console');
});
