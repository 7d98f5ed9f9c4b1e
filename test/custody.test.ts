import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import {
  CHAT_ANSWER,
  CHAT_FRAMES,
  type CloudResource,
  DEPLOYMENT,
  NO_DEPLOYMENT,
  RESPONSE_FRAMES,
  startResource,
} from './cloud-resource.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

const API_KEY = 'own-key-of-the-caller-0123456789-tail';
const ASK = { messages: [{ role: 'user', content: 'hello' }] } as const;

let harness: Harness;
let resource: CloudResource;
let minted: MintedKey;

/** The time a provider is given to answer for a key, as one test has it pass; all other time is real. */
let verificationMs: number = LIMITS.keyVerificationMs;
const clock: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs(),
  after: (ms, run, options) => systemClock.after(ms === LIMITS.keyVerificationMs ? verificationMs : ms, run, options),
};

beforeAll(async () => {
  harness = await startHarness({ clock, config: { rateLimit: { requestsPerSecond: 1e6, burst: 1e6, streams: 1e6 } } });
  resource = await startResource(API_KEY);
});
beforeEach(async () => {
  resource.reset();
  minted = await harness.mint();
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
  await resource.close();
});

function keys(method: string, path = '/cloud', body?: unknown, secret = minted.secret): Promise<Response> {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${harness.url}/v1/keys${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secret}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: json }),
  });
}

function putKey(secret = minted.secret, body: object = {}): Promise<Response> {
  return keys('PUT', '/cloud', { api_key: API_KEY, base_url: resource.baseUrl, ...body }, secret);
}

interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
}

async function refusal(response: Response): Promise<Refusal & { status: number }> {
  const { error } = (await response.json()) as { error: Refusal };
  expect(JSON.stringify(error)).not.toContain(API_KEY);
  return { ...error, status: response.status };
}

function chat(model: string, more: object = {}, secret = minted.secret): Promise<Response> {
  return harness.post({ model, ...ASK, ...more }, { authorization: `Bearer ${secret}` });
}

function sdk(secret = minted.secret): OpenAI {
  return harness.openai(secret, { maxRetries: 0 });
}

describe('a stored key', () => {
  test('is verified at its resource, stored, listed, shown and removed', async () => {
    const put = await putKey();
    const stored = (await put.json()) as Record<string, unknown>;
    expect([put.status, stored]).toEqual([
      200,
      {
        object: 'provider_key',
        provider: 'cloud',
        last_four: 'tail',
        base_url: resource.baseUrl,
        status: 'verified',
        verified_at: expect.any(Number),
        created_at: expect.any(Number),
      },
    ]);
    expect(resource.calls.map(({ method, path, headers }) => [method, path, headers['api-key']])).toEqual([
      ['GET', '/openai/v1/models', API_KEY],
    ]);
    expect(await (await keys('GET', '')).json()).toEqual({ object: 'list', data: [stored] });
    expect(await (await keys('GET')).json()).toEqual(stored);
    const removed = await keys('DELETE');
    expect([removed.status, await removed.json()]).toEqual([
      200,
      { object: 'provider_key', provider: 'cloud', deleted: true },
    ]);
    expect(await (await keys('GET', '')).json()).toEqual({ object: 'list', data: [] });
  });

  test('is replaced by another, and keeps the day the first was stored', async () => {
    const first = (await (await putKey()).json()) as { created_at: number };
    resource.key = 'another-key-of-the-caller-new9';
    const second = await putKey(minted.secret, { api_key: resource.key, base_url: `${resource.baseUrl}/` });
    expect(await second.json()).toMatchObject({
      last_four: 'new9',
      base_url: resource.baseUrl,
      created_at: first.created_at,
    });
    expect((await chat(DEPLOYMENT)).status).toBe(200);
  });

  test('is the account’s own: another account has none, another key of the same account has it', async () => {
    await putKey();
    const stranger = await harness.mint();
    expect(await refusal(await keys('GET', '/cloud', undefined, stranger.secret))).toMatchObject({
      status: 404,
      code: 'provider_key_not_found',
    });
    expect((await chat(DEPLOYMENT, {}, stranger.secret)).status).toBe(404);
    const sister = await harness.mintFor(minted.accountId);
    expect((await keys('GET', '/cloud', undefined, sister.secret)).status).toBe(200);
    expect((await chat(DEPLOYMENT, {}, sister.secret)).status).toBe(200);
  });

  test('works for the local account, without any key of ours', async () => {
    const put = await fetch(`${harness.url}/v1/keys/cloud`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: API_KEY, base_url: resource.baseUrl }),
    });
    expect(put.status).toBe(200);
    const answer = await harness.post({ model: DEPLOYMENT, ...ASK });
    expect([answer.status, answer.headers.get('x-gateway-cost-nanousd')]).toEqual([200, '0']);
    await fetch(`${harness.url}/v1/keys/cloud`, { method: 'DELETE' });
  });
});

describe('nothing is stored', () => {
  async function expectNothingStored(): Promise<void> {
    expect((await keys('GET')).status).toBe(404);
  }

  test('where the provider refuses the key', async () => {
    const refused = await refusal(await putKey(minted.secret, { api_key: 'wrong-key-of-the-caller' }));
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error', param: 'api_key' });
    expect(refused.message).toContain('"cloud" refused the key');
    await expectNothingStored();
  });

  test.each([
    ['at a path that is no resource’s', (origin: string) => `${origin}/v1`, 'must end in /openai/v1'],
    ['with a query', (origin: string) => `${origin}/openai/v1?api-version=1`, 'must end in /openai/v1'],
    ['that is none', () => 'my-resource', 'no URL'],
    ['with a user in it', (origin: string) => `${origin.replace('//', '//me:secret@')}/openai/v1`, 'user name'],
    ['of another scheme', () => 'ftp://files.example/openai/v1', 'https://'],
    ['without TLS', () => 'http://resource.example/openai/v1', 'https://'],
    ['inside a network', () => 'https://10.0.0.1/openai/v1', 'cannot be called at this URL'],
    ['of the metadata service', () => 'https://169.254.169.254/openai/v1', 'cannot be called at this URL'],
  ])('for a URL %s', async (_, url, why) => {
    const refused = await refusal(await putKey(minted.secret, { base_url: url(resource.origin) }));
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error', param: 'base_url' });
    expect(refused.message).toContain('"cloud"');
    expect(refused.message).toContain(why);
    expect(resource.calls).toHaveLength(0);
    await expectNothingStored();
  });

  test('for a URL that leads to this gateway itself', async () => {
    const refused = await refusal(await putKey(minted.secret, { base_url: `${harness.url}/openai/v1` }));
    expect(refused).toMatchObject({ status: 422, param: 'base_url' });
    expect(refused.message).toContain('this gateway itself');
  });

  test('where nobody answers at the URL', async () => {
    const gone = await startResource(API_KEY);
    await gone.close();
    const refused = await refusal(await putKey(minted.secret, { base_url: gone.baseUrl }));
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain('cannot be reached');
    await expectNothingStored();
  });

  test('where the answer takes too long: that is inconclusive, and said to be', async () => {
    resource.answer = () => 'hang';
    verificationMs = 50;
    const refused = await refusal(await putKey());
    verificationMs = LIMITS.keyVerificationMs;
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain('inconclusive');
    await expectNothingStored();
  });

  test.each([
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1/' }, body: '' }, 'redirect'],
    ['nothing there', { status: 404, body: '{}' }, 'Check `base_url`'],
    ['a failure', { status: 500, body: '{}' }, 'not known whether the key works'],
    ['a limit', { status: 429, body: '{}' }, 'not known whether the key works'],
    ['a page for people', { status: 200, body: '<html>welcome</html>' }, 'no list of models'],
  ])('where the provider answers with %s', async (_, answer, why) => {
    resource.answer = () => answer;
    const refused = await refusal(await putKey());
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain(why);
    expect(resource.calls).toHaveLength(1);
    await expectNothingStored();
  });

  test('with the retired field, by its name', async () => {
    const refused = await refusal(await putKey(minted.secret, { deployments: [DEPLOYMENT] }));
    expect(refused).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'deployments' });
    expect(refused.message).toContain('retired');
    expect(resource.calls).toHaveLength(0);
    await expectNothingStored();
  });

  test.each([
    ['no body', '', 400, null],
    ['no object', '[]', 400, null],
    ['no JSON', '{"api_key":', 400, 'api_key'],
    ['no key', { base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['an empty key', { api_key: '', base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['a key of two lines', { api_key: 'a\nb', base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['a key that is none', { api_key: 7, base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['no URL', { api_key: API_KEY }, 400, 'base_url'],
    ['a strange field', { api_key: API_KEY, base_url: 'https://x.example/openai/v1', name: 'x' }, 400, 'name'],
    ['a key twice', '{"api_key":"a","api_key":"b","base_url":"c"}', 400, 'api_key'],
  ])('for %s', async (_, body, status, param) => {
    expect(await refusal(await keys('PUT', '/cloud', body))).toMatchObject({ status, param });
  });

  test('for a provider nobody knows, or a body larger than any key', async () => {
    const body = { api_key: API_KEY, base_url: resource.baseUrl };
    expect(await refusal(await keys('PUT', '/elsewhere', body))).toMatchObject({ status: 400, param: 'provider' });
    const large = { api_key: 'x'.repeat(70_000), base_url: resource.baseUrl };
    const refused = await refusal(await keys('PUT', '/cloud', large));
    expect(refused).toMatchObject({ status: 413, code: 'request_too_large' });
    expect(refused.message).toContain('65536');
  });

  test('where none is, none is shown or removed', async () => {
    for (const method of ['GET', 'DELETE']) {
      for (const path of ['/cloud', '/elsewhere', '/cloud/more']) {
        expect(await refusal(await keys(method, path))).toMatchObject({ status: 404, code: 'provider_key_not_found' });
      }
    }
  });
});

describe('a call on a deployment', () => {
  beforeEach(async () => {
    await putKey();
    resource.reset();
  });

  test.each([DEPLOYMENT, `cloud/${DEPLOYMENT}`])('as %s, by the official SDK', async (model) => {
    const { data, response } = await sdk()
      .chat.completions.create({ model, messages: [{ role: 'user', content: 'hello' }] })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Hello from my own.');
    expect(data.usage).toMatchObject({ prompt_tokens: 11, cost: 0, cost_nanousd: 0 });
    expect(response.headers.get('x-gateway-requested-model')).toBe(model);
    expect(response.headers.get('x-gateway-effective-model')).toBe(DEPLOYMENT);
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(response.headers.get('x-gateway-cost-components-nanousd')).toBe(
      'fresh=0,cache_write=0,cache_read=0,output=0',
    );
    const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!, minted.secret);
    expect(receipt).toMatchObject({ status: 'settled', ended: 'complete', cost_nanousd: 0, held_nanousd: 0 });
    expect(receipt.usage).toMatchObject({ fresh_tokens: 11, output_tokens: 5 });
    expect(resource.calls.map(({ path }) => path)).toEqual(['/openai/v1/chat/completions']);
    expect(resource.calls[0]?.headers).toMatchObject({ 'api-key': API_KEY });
    expect(resource.calls[0]?.headers.authorization).toBeUndefined();
  });

  test('streams by the official SDK, frame for frame what the provider wrote', async () => {
    const stream = await sdk().chat.completions.create({
      model: DEPLOYMENT,
      messages: [...ASK.messages],
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello there.');
    const raw = await chat(DEPLOYMENT, { stream: true });
    expect(await raw.text()).toBe(CHAT_FRAMES.join(''));
    expect(raw.headers.get('x-gateway-effective-model')).toBe(DEPLOYMENT);
    expect(raw.headers.get('x-gateway-cost-nanousd')).toBeNull();
    const receipt = await harness.receipt(raw.headers.get('x-gateway-request-id')!, minted.secret);
    expect(receipt).toMatchObject({ status: 'settled', ended: 'complete', cost_nanousd: 0, usage_source: 'estimated' });
  });

  test('on the other wires by the official SDK', async () => {
    const client = sdk();
    const response = await client.responses.create({ model: DEPLOYMENT, input: 'hello' });
    expect(response.output_text).toBe('Hello from my own.');
    const events: string[] = [];
    for await (const event of await client.responses.create({ model: DEPLOYMENT, input: 'hello', stream: true })) {
      events.push(event.type);
    }
    expect(events.at(-1)).toBe('response.completed');
    const completion = await client.completions.create({ model: `cloud/${DEPLOYMENT}`, prompt: 'Tell' });
    expect(completion.choices[0]?.text).toBe('Once.');
    const vectors = await client.embeddings.create({ model: DEPLOYMENT, input: 'x', encoding_format: 'float' });
    expect(vectors.data[0]?.embedding).toEqual([0.6, 0.8]);
    expect(resource.calls.map(({ path }) => path)).toEqual([
      '/openai/v1/responses',
      '/openai/v1/responses',
      '/openai/v1/completions',
      '/openai/v1/embeddings',
    ]);
    const raw = await harness.post(
      { model: DEPLOYMENT, input: 'hello', stream: true },
      { authorization: `Bearer ${minted.secret}` },
      '/v1/responses',
    );
    expect(await raw.text()).toBe(RESPONSE_FRAMES.join(''));
  });

  test('the body goes as it was written: nothing mapped, nothing added', async () => {
    const body = `{ "model" : "${DEPLOYMENT}","messages":[{"role":"user","content":"h\\u00e9"}],"temperature":1.0,"reasoning_effort":"xhigh","user":"me","extra":{"b":2,"a":1e0}}`;
    expect((await harness.post(body, { authorization: `Bearer ${minted.secret}` })).status).toBe(200);
    expect(resource.calls[0]?.body).toBe(body);
    const prefixed = body.replace(DEPLOYMENT, `cloud/${DEPLOYMENT}`);
    expect((await harness.post(prefixed, { authorization: `Bearer ${minted.secret}` })).status).toBe(200);
    expect(resource.calls[1]?.body).toBe(body);
  });

  test('the answer comes as it was written, but for the cost in its usage', async () => {
    const answer = await chat(DEPLOYMENT);
    expect(await answer.text()).toBe(CHAT_ANSWER.replace('"odd":1.0}', '"odd":1.0,"cost":0,"cost_nanousd":0}'));
  });

  test('costs nothing even on an empty account, at a spent cap and under a ceiling of nothing', async () => {
    const poor = await harness.mint({ creditNanousd: 0n, capNanousd: 0n });
    await putKey(poor.secret);
    const answer = await harness.post(
      { model: DEPLOYMENT, ...ASK, max_tokens: 1_000_000 },
      { authorization: `Bearer ${poor.secret}`, 'x-gateway-max-cost-nanousd': '0' },
    );
    expect([answer.status, answer.headers.get('x-gateway-cost-nanousd')]).toEqual([200, '0']);
  });

  test('a model of the catalog with the same name wins, in both spellings', async () => {
    for (const model of ['sim-gpt', 'cloud/sim-gpt']) {
      const answer = await chat(model);
      expect([answer.status, answer.headers.get('x-gateway-effective-model')]).toEqual([200, 'sim-gpt']);
    }
    expect(resource.calls).toHaveLength(0);
  });

  test('its name is in no list of models', async () => {
    await chat(DEPLOYMENT);
    const auth = { authorization: `Bearer ${minted.secret}` };
    const { data } = (await (await harness.get('/v1/models', auth)).json()) as { data: { id: string }[] };
    expect(data.filter(({ id }) => id.includes(DEPLOYMENT) || id.startsWith('cloud'))).toEqual([]);
    for (const id of [DEPLOYMENT, `cloud%2F${DEPLOYMENT}`]) {
      expect((await harness.get(`/v1/models/${id}`, auth)).status).toBe(404);
    }
  });

  test('may be quoted: nothing at most', async () => {
    const quote = await harness.post(
      { path: '/v1/chat/completions', body: { model: DEPLOYMENT, ...ASK } },
      { authorization: `Bearer ${minted.secret}` },
      '/v1/quote',
    );
    // Quotes are a route of their own; where it is not served yet there is nothing to ask.
    if (quote.status !== 404) expect(await quote.json()).toMatchObject({ model: DEPLOYMENT, worst_case_nanousd: 0 });
    expect(resource.calls).toHaveLength(0);
  });
});

describe('who may call', () => {
  test('without a stored key a name is unknown', async () => {
    expect(await refusal(await chat(DEPLOYMENT))).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    const named = await refusal(await chat(`cloud/${DEPLOYMENT}`));
    expect(named).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(named.message).toContain('PUT /v1/keys/cloud');
    await putKey();
    await keys('DELETE');
    expect((await chat(DEPLOYMENT)).status).toBe(404);
    resource.reset();
    for (const odd of ['cloud/', 'elsewhere/name', '/name']) expect((await chat(odd)).status).toBe(404);
    expect(resource.calls).toHaveLength(0);
  });

  test('a key restricted to models needs the deployment in its list, in either spelling', async () => {
    await putKey();
    const cases: [models: string[], status: number][] = [
      [['sim-gpt'], 404],
      [[DEPLOYMENT], 200],
      [[`cloud/${DEPLOYMENT}`], 200],
    ];
    for (const [models, status] of cases) {
      const key = await harness.mintFor(minted.accountId, { models });
      for (const model of [DEPLOYMENT, `cloud/${DEPLOYMENT}`]) {
        expect([models, model, (await chat(model, {}, key.secret)).status]).toEqual([models, model, status]);
      }
    }
  });

  test('not on the messages wire', async () => {
    await putKey();
    const ask = (model: string) =>
      harness.post(
        { model, max_tokens: 10, ...ASK },
        { authorization: `Bearer ${minted.secret}`, 'anthropic-version': '2023-06-01' },
        '/v1/messages',
      );
    const named = await ask(`cloud/${DEPLOYMENT}`);
    expect([named.status, await named.json()]).toMatchObject([400, { error: { code: 'wrong_wire', param: 'model' } }]);
    expect((await ask(DEPLOYMENT)).status).toBe(404);
  });

  test('fields the interface refuses are refused here too', async () => {
    await putKey();
    resource.reset();
    expect(await refusal(await chat(DEPLOYMENT, { provider: { order: ['x'] } }))).toMatchObject({
      status: 400,
      param: 'provider',
    });
    expect(resource.calls).toHaveLength(0);
  });
});

describe('when the provider does not answer well', () => {
  beforeEach(async () => {
    await putKey();
    resource.reset();
  });

  async function expectFree(response: Response): Promise<void> {
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!, minted.secret);
    expect(receipt).toMatchObject({ status: 'settled', cost_nanousd: 0, http_status: response.status });
  }

  test('a name it does not serve: its own error, status and body', async () => {
    for (const stream of [false, true]) {
      const answer = await chat('not-there', { stream });
      expect([answer.status, await answer.text()]).toEqual([404, NO_DEPLOYMENT.body]);
      await expectFree(answer);
    }
  });

  test.each([400, 402, 404, 409, 413, 422, 429, 500, 503])('its own %i comes as it is', async (status) => {
    const body = `{"error":{"message":"of status ${status}","type":"t","code":"c","param":null,"more":{"a":1}}}`;
    resource.answer = () => ({ status, body });
    const answer = await chat(DEPLOYMENT);
    expect([answer.status, await answer.text()]).toEqual([status, body]);
    expect(answer.headers.get('x-should-retry')).toBe(
      status < 500 && status !== 409 && status !== 429 ? 'false' : null,
    );
    await expectFree(answer);
    expect(resource.calls).toHaveLength(1);
  });

  test.each([401, 403])('its %i is the stored row’s failure', async (status) => {
    resource.answer = () => ({ status, body: `{"error":{"message":"bad key ${API_KEY}"}}` });
    const answer = await chat(DEPLOYMENT);
    await expectFree(answer);
    const refused = await refusal(answer);
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain('"cloud" refused the stored key');
  });

  test('a key that was changed at the provider is the row’s failure, until it is stored again', async () => {
    resource.key = 'the-key-after-it-was-rolled-over';
    expect((await chat(DEPLOYMENT)).status).toBe(422);
    await putKey(minted.secret, { api_key: resource.key });
    expect((await chat(DEPLOYMENT)).status).toBe(200);
  });

  test('an error that quotes the key does not tell it', async () => {
    resource.answer = () => ({ status: 400, body: `{"error":{"message":"you sent ${API_KEY} and more"}}` });
    const answer = await chat(DEPLOYMENT);
    expect(await answer.text()).toBe('{"error":{"message":"you sent [key] and more"}}');
  });

  test('a page for people is told in our envelope, with its status', async () => {
    resource.answer = () => ({
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: '<html>Bad gateway</html>',
    });
    expect(await refusal(await chat(DEPLOYMENT))).toMatchObject({ status: 502, type: 'upstream_error' });
  });

  test('a redirect is not followed, and nobody learns where it led', async () => {
    harness.sim.reset();
    resource.answer = () => ({
      status: 302,
      headers: { location: `${harness.sim.url}/v1/chat/completions` },
      body: '',
    });
    const answer = await chat(DEPLOYMENT);
    expect([answer.status, answer.headers.get('location')]).toEqual([502, null]);
    expect(harness.sim.calls).toHaveLength(0);
    await expectFree(answer);
    expect((await refusal(answer)).message).toContain('redirect (302), which is not followed');
  });

  test('an error inside a stream ends it, in the provider’s own words', async () => {
    const error = 'data: {"error":{"message":"ran out","code":"own_code","type":"server_error"}}\n\n';
    const frames = [...CHAT_FRAMES.slice(0, 3), error].join('');
    resource.answer = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames });
    const answer = await chat(DEPLOYMENT, { stream: true });
    expect([answer.status, await answer.text()]).toEqual([200, frames]);
  });

  test('a stream that breaks off never ends as if it were whole', async () => {
    const frames = CHAT_FRAMES.slice(0, 3).join('');
    resource.answer = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames });
    const answer = await chat(DEPLOYMENT, { stream: true });
    const text = await answer.text();
    expect(text.startsWith(frames)).toBe(true);
    expect(text).not.toContain('[DONE]');
    expect(text.slice(frames.length)).toContain('"error"');
  });

  test('something that is no JSON is no answer', async () => {
    resource.answer = () => ({ status: 200, body: 'hello' });
    expect(await refusal(await chat(DEPLOYMENT))).toMatchObject({ status: 502, code: 'host_failed' });
  });

  test('a resource that is away is told by the provider’s name, and nothing is charged', async () => {
    const gone = await startResource(API_KEY);
    await putKey(minted.secret, { base_url: gone.baseUrl });
    await gone.close();
    const answer = await chat(DEPLOYMENT);
    await expectFree(answer);
    const refused = await refusal(answer);
    expect(refused).toMatchObject({ status: 502, type: 'upstream_error', code: 'host_failed' });
    expect(refused.message).toContain('"cloud"');
  });
});
