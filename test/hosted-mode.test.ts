import OpenAI, { type AuthenticationError } from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { Secret } from '../src/kit/secret.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type MintedKey, simHost, startHarness } from './harness.ts';
import { audit } from './people-fixtures.ts';
import { callRaw } from './raw-client.ts';
import { until } from './until.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 12);
const ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'hello' }] };
const HOST_KEY = 'sk-canary-of-the-host-key';

let clock: ManualClock;
let harness: Harness;
let key: MintedKey;

beforeAll(async () => {
  clock = new ManualClock(NOW_MS);
  harness = await startHarness({
    hosted: true,
    clock,
    hosts: (sim) => [{ ...simHost(sim), key: new Secret(HOST_KEY) }],
  });
  key = await harness.mint();
});
beforeEach(() => harness.sim.reset());
afterEach(() => harness.expectCleanBooks());
afterAll(() => harness.stop());

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Everything by which a caller could tell refusals apart: status, body and headers, except ids and the time. */
async function fingerprint(response: Response): Promise<string> {
  const headers = [...response.headers].filter(([name]) => !/request-id$|^date$/.test(name));
  return JSON.stringify([response.status, headers, await response.text()]);
}

describe('who has no key', () => {
  test.each([
    ['POST', '/v1/chat/completions'],
    ['POST', '/chat/completions'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/sim-gpt'],
    ['GET', '/v1/balance'],
    ['GET', '/v1/receipts/req_0000000000000'],
    ['GET', '/v1/no-such-path'],
    ['POST', '/v1/images/generations'],
    ['DELETE', '/v1/models'],
    ['GET', '/metrics'],
    ['GET', '/'],
  ])('gets a 401 at %s %s', async (method, path) => {
    const body = method === 'POST' ? { body: 'not even JSON', headers: { 'content-type': 'text/plain' } } : {};
    const response = await fetch(harness.url + path, { method, ...body });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/);
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code: 'invalid_api_key', param: null },
    });
  });

  test.each([
    ['GET', '/v1/catalog'],
    ['GET', '/catalog'],
    ['HEAD', '/'],
    ['GET', '/livez'],
    ['GET', '/readyz'],
  ])('is answered at %s %s', async (method, path) => {
    expect((await fetch(harness.url + path, { method })).status).toBe(200);
  });

  test('sees one and the same 401 for every reason there is', async () => {
    const expired = await harness.mint({ expiresMs: NOW_MS - 1 });
    const revoked = await harness.mint();
    await harness.running.books.store.updateKey(revoked.keyId, { revokedMs: NOW_MS });
    const other = await harness.mint();
    const unknown = key.secret.slice(0, -10) + 'A'.repeat(10);
    const attempts: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer ' },
      { authorization: `Basic ${key.secret}` },
      { authorization: key.secret },
      { 'x-api-key': '' },
      bearer('sk-of-someone-else'),
      bearer(unknown),
      bearer(`${key.secret}x`),
      bearer(expired.secret),
      bearer(revoked.secret),
      { ...bearer(key.secret), 'x-api-key': other.secret },
      { ...bearer(key.secret), 'api-key': 'something' },
    ];
    const seen = new Set<string>();
    for (const headers of attempts) {
      seen.add(await fingerprint(await harness.post(ASK, headers)));
      seen.add(await fingerprint(await harness.get('/v1/models', headers)));
    }
    expect([...seen].map((each) => each.slice(0, 5))).toEqual(['[401,']);
    expect(harness.sim.calls).toHaveLength(0);
  });

  test('is an AuthenticationError to the official SDK, asked once', async () => {
    const error = await harness
      .openai('sk-wrong')
      .chat.completions.create(ASK)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_api_key', requestID: expect.stringMatching(/^req_/) });
    expect((error as AuthenticationError).headers.get('x-should-retry')).toBe('false');
  });
});

describe('a key', () => {
  test('is accepted in any of its three headers, and in several if they agree', async () => {
    const carriers = [
      bearer(key.secret),
      { authorization: `bearer ${key.secret}` },
      { 'x-api-key': key.secret },
      { 'api-key': key.secret },
      { ...bearer(key.secret), 'x-api-key': key.secret, 'api-key': key.secret },
    ];
    for (const headers of carriers) expect((await harness.post(ASK, headers)).status).toBe(200);
  });

  test('is refused when one carrier comes twice', async () => {
    const headers = { 'x-api-key': [key.secret, key.secret] as unknown as string };
    expect((await callRaw(`${harness.url}/v1/models`, undefined, { method: 'GET', headers })).status).toBe(401);
  });

  test('goes no further than this gateway; the host sees its own key', async () => {
    await harness.post(ASK, { ...bearer(key.secret), 'x-api-key': key.secret, cookie: 'a=b', 'x-custom': 'c' });
    const { headers } = harness.sim.calls[0]!;
    expect(headers.authorization).toBe(`Bearer ${HOST_KEY}`);
    expect(JSON.stringify(headers)).not.toContain(key.secret);
    expect([headers['x-api-key'], headers.cookie, headers['x-custom']]).toEqual([undefined, undefined, undefined]);
    expect(headers['accept-encoding']).toBe('identity');
  });

  test('that was revoked spends nothing from that moment, and is unknown within two seconds', async () => {
    const doomed = await harness.mint();
    const models = async () => (await harness.get('/v1/models', bearer(doomed.secret))).status;
    expect(await models()).toBe(200);
    await harness.running.books.store.updateKey(doomed.keyId, { revokedMs: clock.nowMs() });
    const refused = await harness.post(ASK, bearer(doomed.secret));
    expect(refused.status).toBe(401);
    expect(await refused.json()).toEqual(await (await harness.get('/v1/models')).json());
    expect(harness.sim.calls).toHaveLength(0);
    expect(LIMITS.keyPollMs).toBeLessThanOrEqual(2_000);
    clock.advance(LIMITS.keyPollMs);
    await until(async () => (await models()) === 401, 'the revoked key is unknown');
  });

  test('may delete a provider key once it is granted that, and no longer when it is taken away', async () => {
    const minted = await harness.mint();
    const remove = async (): Promise<number> => {
      const headers = bearer(minted.secret);
      return (await fetch(`${harness.url}/v1/keys/cloud`, { method: 'DELETE', headers })).status;
    };
    expect(await remove()).toBe(403);
    for (const [change, status] of [
      [{ allow: ['provider_keys'] }, 404],
      [{ deny: ['provider_keys'] }, 403],
    ] as const) {
      await harness.running.books.store.updateKey(minted.keyId, change);
      clock.advance(LIMITS.keyPollMs);
      await until(async () => (await remove()) === status, `the answer is ${status}`);
    }
  });

  test('that expires is refused from its last millisecond on', async () => {
    const mortal = await harness.mint({ expiresMs: clock.nowMs() + 5_000 });
    expect((await harness.post(ASK, bearer(mortal.secret))).status).toBe(200);
    clock.advance(4_999);
    expect((await harness.get('/v1/models', bearer(mortal.secret))).status).toBe(200);
    clock.advance(1);
    expect((await harness.get('/v1/models', bearer(mortal.secret))).status).toBe(401);
    expect((await harness.post(ASK, bearer(mortal.secret))).status).toBe(401);
  });

  test('with a list of models sees and calls no others', async () => {
    const narrow = await harness.mint({ models: ['sim-gpt-mini', 'not-served-now'] });
    const headers = bearer(narrow.secret);
    const list = (await (await harness.get('/v1/models', headers)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(['sim-gpt-mini']);
    expect((await harness.get('/v1/models/vendor%2Fsim-gpt-mini', headers)).status).toBe(200);
    for (const response of [
      await harness.get('/v1/models/sim-gpt', headers),
      await harness.post(ASK, headers),
      await harness.post({ ...ASK, model: 'vendor/sim-gpt' }, headers),
    ]) {
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'model_not_found',
      ]);
    }
    expect((await harness.post({ ...ASK, model: 'sim-gpt-mini' }, headers)).status).toBe(200);
    const catalog = (await (await harness.get('/v1/catalog', headers)).json()) as { data: { id: string }[] };
    expect(catalog.data.map(({ id }) => id)).toEqual(expect.arrayContaining(['sim-gpt', 'sim-gpt-mini']));
  });
});

test('a suspended account gets a 403, while its running call ends and is charged', async () => {
  const { secret, accountId } = await harness.mint({ creditNanousd: 50_000_000_000n });
  const { directory } = harness.running.books.store;
  harness.sim.script({ gateHead: 'barrier' });
  const running = harness.post(ASK, bearer(secret));
  await harness.sim.waitForGate('barrier', 1);
  await directory.setAccountStatus(accountId, 'suspended', audit('account.suspend'));
  const refused = await harness.post(ASK, bearer(secret));
  expect([refused.status, refused.headers.get('x-gateway-cost-nanousd')]).toEqual([403, '0']);
  expect(await refused.json()).toMatchObject({ error: { code: 'account_suspended', param: null } });
  harness.sim.release('barrier', 1);
  expect([(await running).status, Number((await running).headers.get('x-gateway-cost-nanousd')) > 0]).toEqual([
    200,
    true,
  ]);
  await directory.setAccountStatus(accountId, 'active', audit('account.resume'));
  harness.sim.reset();
  expect((await harness.post(ASK, bearer(secret))).status).toBe(200);
});

describe('the balance', () => {
  test('is exact before, during and after a call', async () => {
    const rich = await harness.mint({ creditNanousd: 50_000_000n, capNanousd: 90_000_000n, capWindow: 'day' });
    const balance = async () => (await (await harness.get('/v1/balance', bearer(rich.secret))).json()) as object;
    const keyPart = { id: expect.stringMatching(/^key_/), spend_cap_nanousd: 90_000_000, window: 'day' };
    const resets_at = Date.UTC(2026, 10, 16) / 1000;
    expect(await balance()).toEqual({
      object: 'balance',
      currency: 'USD',
      unlimited: false,
      balance_nanousd: 50_000_000,
      held_nanousd: 0,
      reserved_nanousd: 0,
      available_nanousd: 50_000_000,
      spent_nanousd: 0,
      hangups: { allowance_nanousd: 1_000_000_000, remaining_nanousd: 1_000_000_000, resets_at: expect.any(Number) },
      key: {
        ...keyPart,
        spent_nanousd: 0,
        held_nanousd: 0,
        reserved_nanousd: 0,
        remaining_nanousd: 90_000_000,
        resets_at,
      },
    });
    harness.sim.script({ gateHead: 'answer' });
    const answer = harness.post({ ...ASK, max_tokens: 100 }, bearer(rich.secret));
    await harness.sim.waitForGate('answer', 1);
    const during = (await balance()) as { held_nanousd: number };
    const held = during.held_nanousd;
    expect(held).toBeGreaterThan(1_000_000);
    expect(during).toMatchObject({
      balance_nanousd: 50_000_000,
      available_nanousd: 50_000_000 - held,
      key: { held_nanousd: held, remaining_nanousd: 90_000_000 - held },
    });
    harness.sim.release('answer');
    const cost = Number((await answer).headers.get('x-gateway-cost-nanousd'));
    expect(await balance()).toMatchObject({
      balance_nanousd: 50_000_000 - cost,
      held_nanousd: 0,
      available_nanousd: 50_000_000 - cost,
      spent_nanousd: cost,
      key: { spent_nanousd: cost, held_nanousd: 0, remaining_nanousd: 90_000_000 - cost },
    });
  });

  test('that is too small is a 402 which says so', async () => {
    const poor = await harness.mint({ creditNanousd: 1_000n });
    const response = await harness.post(ASK, bearer(poor.secret));
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([402, 'false']);
    const { error } = (await response.json()) as { error: { message: string; type: string; code: string } };
    expect(error).toMatchObject({ type: 'insufficient_allowance', code: 'insufficient_quota' });
    expect(error.message).toMatch(/^This call could cost up to \$0\.\d+ \(\d+ nanodollars\)/);
    expect(error.message).toContain('the balance leaves $0.000001 (1000 nanodollars).');
  });
});

describe('a receipt', () => {
  test('is for its account alone, whichever of its keys asks', async () => {
    const stranger = await harness.mint();
    const response = await harness.post(ASK, bearer(key.secret));
    const id = response.headers.get('x-gateway-request-id')!;
    expect(await harness.receipt(id, key.secret)).toMatchObject({ id, key: expect.stringMatching(/^key_/) });
    const refused = await harness.get(`/v1/receipts/${id}`, bearer(stranger.secret));
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      'receipt_not_found',
    ]);
  });
});

describe('health and metrics', () => {
  test('answer on a loopback port of their own', async () => {
    const operations = harness.running.operationsUrl!;
    expect(new URL(operations).hostname).toBe('127.0.0.1');
    expect(new URL(operations).port).not.toBe(new URL(harness.url).port);
    expect((await fetch(`${operations}/livez`)).status).toBe(200);
    expect(await (await fetch(`${operations}/readyz`)).json()).toEqual({ status: 'ok' });
    await harness.post(ASK, bearer(key.secret));
    const metrics = await (await fetch(`${operations}/metrics`)).text();
    expect(metrics).toMatch(
      /tollgate_calls_total\{route="\/v1\/chat\/completions",status="200",ended="complete"\} \d+/,
    );
    expect((await harness.get('/metrics', bearer(key.secret))).status).toBe(404);
    expect((await fetch(`${operations}/v1/models`)).status).toBe(404);
  });

  test('are not for a web page that bound a name to this machine, or any other page', async () => {
    const operations = harness.running.operationsUrl!;
    for (const path of ['/livez', '/readyz', '/metrics', '/nothing']) {
      for (const [headers, code] of [
        [{ host: 'evil.example' }, 'forbidden_host'],
        [{ origin: 'https://evil.example' }, 'forbidden_origin'],
      ] as const) {
        const answer = await callRaw(operations + path, undefined, { method: 'GET', headers });
        expect([path, answer.status, JSON.parse(answer.text).error.code]).toEqual([path, 403, code]);
      }
    }
  });
});

describe('what is written down', () => {
  const PROMPT = 'canary-prompt-7281';
  const TOOL = 'canary-tool-5512';

  test('names no secret and no word of a prompt or an answer', async () => {
    const ask = {
      ...ASK,
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ type: 'function', function: { name: TOOL } }],
      tool_choice: 'none',
    };
    const echo = { error: { message: `You said ${PROMPT} with ${HOST_KEY}`, type: 'x', code: 'odd', param: null } };
    const headers = bearer(key.secret);
    for (const stream of [false, true]) {
      await (await harness.post({ ...ask, stream }, headers)).text();
      for (const status of [400, 401, 403, 404, 422, 429, 500, 503]) {
        harness.sim.script({ status, errorBody: echo }, { times: 1 });
        const text = await (await harness.post({ ...ask, stream }, headers)).text();
        expect(text).not.toContain(HOST_KEY);
        // A refused key is not used for a while, but the other cases need it too.
        clock.advance(harness.config.health.keyAsideMs);
      }
      harness.sim.script({ raw: { contentType: 'application/json', base64: btoa(`{"${PROMPT}`) } }, { times: 1 });
      await (await harness.post({ ...ask, stream }, headers)).text();
    }
    await harness.post(`{"model":"sim-gpt","messages":"${PROMPT}"}`, headers);
    await harness.post(`{"model":"sim-gpt","${PROMPT}":{"${PROMPT}`, headers);
    await harness.get(`/v1/${PROMPT}?key=${key.secret}`, headers);
    await harness.get(`/v1/models/${PROMPT}`, headers);
    await harness.post(ask, bearer(`${key.secret.slice(0, -1)}!`));
    const metrics = await (await fetch(`${harness.running.operationsUrl}/metrics`)).text();
    const written = harness.log.map((line) => JSON.stringify(line)).join('\n') + metrics;
    expect(harness.log.length).toBeGreaterThan(20);
    for (const canary of [PROMPT, TOOL, HOST_KEY, key.secret, key.secret.slice(8, 30)]) {
      expect(written.split('\n').filter((line) => line.includes(canary))).toEqual([]);
    }
  });

  test('is one line a request, with what an operator asks for', async () => {
    const response = await harness.post(ASK, bearer(key.secret));
    const id = response.headers.get('x-gateway-request-id');
    await until(() => harness.log.some((line) => line.request_id === id), 'the call is logged');
    expect(harness.log.filter((line) => line.request_id === id)).toEqual([
      expect.objectContaining({
        msg: 'call',
        route: '/v1/chat/completions',
        key: expect.stringMatching(/^key_/),
        account: expect.stringMatching(/^acct_/),
        model: 'sim-gpt',
        host: 'sim',
        status: 200,
        ended: 'complete',
        output_tokens: expect.any(Number),
        cost_nanousd: Number(response.headers.get('x-gateway-cost-nanousd')),
        held_nanousd: expect.any(Number),
        total_ms: expect.any(Number),
      }),
    ]);
    const refused = await harness.get('/v1/models');
    const refusedId = refused.headers.get('x-gateway-request-id');
    expect(harness.log.filter((line) => line.request_id === refusedId)).toMatchObject([
      { msg: 'request', status: 401, error: 'invalid_api_key' },
    ]);
  });
});
