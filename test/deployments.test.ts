import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { CHAT_ANSWER, CHAT_FRAMES, DEPLOYMENT, RESPONSE_FRAMES } from './cloud-resource.ts';
import { API_KEY, ASK, CustodyFixture, OWNER, readRefusal } from './custody-fixture.ts';
import { until } from './until.ts';

let custody: CustodyFixture;

beforeAll(async () => {
  custody = await CustodyFixture.start();
});
beforeEach(() => custody.renew());
afterAll(() => custody.stop());

function sdk(): OpenAI {
  return custody.harness.openai(custody.minted.secret, { maxRetries: 0 });
}

describe('a call on a deployment', () => {
  beforeEach(async () => {
    await custody.putKey();
    custody.resource.reset();
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
    const receipt = await custody.harness.receipt(response.headers.get('x-gateway-request-id')!, custody.minted.secret);
    expect(receipt).toMatchObject({ status: 'settled', ended: 'complete', cost_nanousd: 0, held_nanousd: 0 });
    expect(receipt.usage).toMatchObject({ fresh_tokens: 11, output_tokens: 5 });
    expect(custody.resource.calls.map(({ path }) => path)).toEqual(['/openai/v1/chat/completions']);
    expect(custody.resource.calls[0]?.headers).toMatchObject({ 'api-key': API_KEY });
    expect(custody.resource.calls[0]?.headers.authorization).toBeUndefined();
  });

  test.each([DEPLOYMENT, `cloud/${DEPLOYMENT}`])('may have been the first of a chain, as %s', async (first) => {
    const fallBack = (headers: Record<string, string>) =>
      custody.harness.post({ ...ASK, model: 'sim-gpt' }, { 'x-gateway-requested-model': first, ...headers });
    const chain = { authorization: `Bearer ${custody.minted.secret}`, 'x-gateway-chain': 'plan;2' };
    const response = await fallBack(chain);
    const models = ['requested', 'effective'].map((which) => response.headers.get(`x-gateway-${which}-model`));
    expect([response.status, ...models]).toEqual([200, first, 'sim-gpt']);
    const { secret } = await custody.harness.mint();
    expect((await fallBack({ ...chain, authorization: `Bearer ${secret}` })).status).toBe(400);
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
    const raw = await custody.chat(DEPLOYMENT, { stream: true });
    expect(await raw.text()).toBe(CHAT_FRAMES.join(''));
    expect(raw.headers.get('x-gateway-effective-model')).toBe(DEPLOYMENT);
    expect(raw.headers.get('x-gateway-cost-nanousd')).toBeNull();
    const receipt = await custody.harness.receipt(raw.headers.get('x-gateway-request-id')!, custody.minted.secret);
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
    expect(custody.resource.calls.map(({ path }) => path)).toEqual([
      '/openai/v1/responses',
      '/openai/v1/responses',
      '/openai/v1/completions',
      '/openai/v1/embeddings',
    ]);
    const raw = await custody.harness.post(
      { model: DEPLOYMENT, input: 'hello', stream: true },
      { authorization: `Bearer ${custody.minted.secret}` },
      '/v1/responses',
    );
    expect(await raw.text()).toBe(RESPONSE_FRAMES.join(''));
  });

  test('the body goes as it was written: nothing mapped, nothing added', async () => {
    const body = `{ "model" : "${DEPLOYMENT}","messages":[{"role":"user","content":"h\\u00e9"}],"temperature":1.0,"reasoning_effort":"xhigh","user":"me","extra":{"b":2,"a":1e0}}`;
    expect((await custody.harness.post(body, { authorization: `Bearer ${custody.minted.secret}` })).status).toBe(200);
    expect(custody.resource.calls[0]?.body).toBe(body);
    const prefixed = body.replace(DEPLOYMENT, `cloud/${DEPLOYMENT}`);
    expect((await custody.harness.post(prefixed, { authorization: `Bearer ${custody.minted.secret}` })).status).toBe(
      200,
    );
    expect(custody.resource.calls[1]?.body).toBe(body);
  });

  test('the answer comes as it was written, but for the cost in its usage', async () => {
    const answer = await custody.chat(DEPLOYMENT);
    expect(await answer.text()).toBe(CHAT_ANSWER.replace('"odd":1.0}', '"odd":1.0,"cost":0,"cost_nanousd":0}'));
  });

  test('has usage that can be added up, whatever the provider reports', async () => {
    const reported = (count: number): string => CHAT_ANSWER.replace('"prompt_tokens":11', `"prompt_tokens":${count}`);
    const usageOf = async (body: string): Promise<unknown> => {
      custody.resource.answer = () => ({ status: 200, body });
      const answer = await custody.chat(DEPLOYMENT);
      const id = answer.headers.get('x-gateway-request-id')!;
      const { usage, usage_source } = await custody.harness.receipt(id, custody.minted.secret);
      return { usage, usage_source };
    };
    expect(await usageOf(reported(LIMITS.usageTokensMax))).toMatchObject({
      usage: { fresh_tokens: LIMITS.usageTokensMax, output_tokens: 5 },
      usage_source: 'reported',
    });
    const estimated = { usage: { fresh_tokens: 2, output_tokens: 5 }, usage_source: 'estimated' };
    expect(await usageOf(reported(LIMITS.usageTokensMax + 1))).toMatchObject(estimated);
    expect(await usageOf(reported(Number.MAX_SAFE_INTEGER))).toMatchObject(estimated);
  });

  test.each(['[],', '{},', '"a":0,'])('is refused if it has too many of %s to be read in time', async (part) => {
    const [open, close] = part.includes(':') ? ['{', '}'] : ['[', ']'];
    const many = open + part.repeat(LIMITS.deploymentWorkMax / 8).slice(0, -1) + close;
    custody.resource.answer = () => ({ status: 200, body: CHAT_ANSWER.replace('"odd":1.0', `"odd":${many}`) });
    const answer = await custody.chat(DEPLOYMENT);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({
      error: { code: 'host_failed', message: expect.stringContaining('too many JSON values') },
    });
  });

  test.each([
    ['before its first content', [], 502],
    ['after some content', CHAT_FRAMES.slice(0, -1), 200],
  ])('ends its stream with the reason if a frame %s takes too long to read', async (_, before, status) => {
    const frame = `data: {"odd":[${'[],'.repeat(LIMITS.deploymentWorkMax / 8)}[]]}\n\n`;
    const headers = { 'content-type': 'text/event-stream' };
    custody.resource.answer = () => ({ status: 200, headers, body: [...before, frame].join('') });
    const answer = await custody.chat(DEPLOYMENT, { stream: true });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain('too many JSON values');
    expect(custody.resource.calls).toHaveLength(1);
  });

  test('costs nothing even on an empty account, at a spent cap and under a ceiling of nothing', async () => {
    const poor = await custody.harness.mint({ ...OWNER, creditNanousd: 0n, capNanousd: 0n });
    await custody.putKey({}, poor.secret);
    const answer = await custody.harness.post(
      { model: DEPLOYMENT, ...ASK, max_tokens: 1_000_000 },
      { authorization: `Bearer ${poor.secret}`, 'x-gateway-max-cost-nanousd': '0' },
    );
    expect([answer.status, answer.headers.get('x-gateway-cost-nanousd')]).toEqual([200, '0']);
  });

  test('a model of the catalog with the same name wins, in both spellings', async () => {
    for (const model of ['sim-gpt', 'cloud/sim-gpt']) {
      const answer = await custody.chat(model);
      expect([answer.status, answer.headers.get('x-gateway-effective-model')]).toEqual([200, 'sim-gpt']);
    }
    expect(custody.resource.calls).toHaveLength(0);
  });

  test('its name is in no list of models', async () => {
    await custody.chat(DEPLOYMENT);
    const auth = { authorization: `Bearer ${custody.minted.secret}` };
    const { data } = (await (await custody.harness.get('/v1/models', auth)).json()) as { data: { id: string }[] };
    expect(data.filter(({ id }) => id.includes(DEPLOYMENT) || id.startsWith('cloud'))).toEqual([]);
    for (const id of [DEPLOYMENT, `cloud%2F${DEPLOYMENT}`]) {
      expect((await custody.harness.get(`/v1/models/${id}`, auth)).status).toBe(404);
    }
  });

  test('holds nothing, durably, while it runs; a caller who leaves ends the provider’s work too', async () => {
    let providerLeft = false;
    custody.resource.answer = () => 'hang';
    custody.resource.onGone = () => {
      providerLeft = true;
    };
    const leaving = new AbortController();
    const call = fetch(`${custody.harness.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${custody.minted.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: DEPLOYMENT, ...ASK }),
      signal: leaving.signal,
    });
    await until(() => custody.resource.calls.length === 1, 'the provider was asked');
    expect(await custody.harness.newestReceipt()).toMatchObject({ state: 'open', heldNanousd: 0n, host: null });
    leaving.abort();
    await expect(call).rejects.toThrow();
    await custody.harness.settled();
    await until(() => providerLeft, 'the provider was left');
    expect(await custody.harness.newestReceipt()).toMatchObject({
      state: 'settled',
      ended: 'client_gone',
      costNanousd: 0n,
      lossNanousd: 0n,
      host: 'cloud',
      effectiveModel: DEPLOYMENT,
    });
  });

  test('is given again under an idempotency key, and asked for once', async () => {
    const ask = () => custody.harness.post({ model: DEPLOYMENT, ...ASK }, headers);
    const headers = { authorization: `Bearer ${custody.minted.secret}`, 'idempotency-key': 'once' };
    const first = await ask();
    const again = await ask();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect(custody.resource.calls).toHaveLength(1);
  });

  test('is counted in the metrics under its provider, never under a name that callers make up', async () => {
    await custody.chat(DEPLOYMENT);
    await custody.chat('made-up-by-a-caller');
    const metrics = await (await custody.harness.get('/metrics')).text();
    expect(metrics).toContain('tollgate_tokens_total{model="cloud",kind="output"}');
    expect(metrics).not.toContain(DEPLOYMENT);
    expect(metrics).not.toContain('made-up-by-a-caller');
  });

  test('may be quoted: nothing at most', async () => {
    const quote = await custody.harness.post(
      { path: '/v1/chat/completions', body: { model: DEPLOYMENT, ...ASK } },
      { authorization: `Bearer ${custody.minted.secret}` },
      '/v1/quote',
    );
    expect(await quote.json()).toMatchObject({ model: DEPLOYMENT, worst_case_nanousd: 0 });
    expect(custody.resource.calls).toHaveLength(0);
  });
});

describe('who may call', () => {
  test('without a stored key a name is unknown', async () => {
    expect(await readRefusal(await custody.chat(DEPLOYMENT))).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    const named = await readRefusal(await custody.chat(`cloud/${DEPLOYMENT}`));
    expect(named).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(named.message).toContain('PUT /v1/keys/cloud');
    await custody.putKey();
    await custody.keys('DELETE');
    expect((await custody.chat(DEPLOYMENT)).status).toBe(404);
    custody.resource.reset();
    for (const odd of ['cloud/', 'elsewhere/name', '/name']) expect((await custody.chat(odd)).status).toBe(404);
    expect(custody.resource.calls).toHaveLength(0);
  });

  test('a key restricted to models needs the deployment in its list, in either spelling', async () => {
    await custody.putKey();
    const cases: [models: string[], status: number][] = [
      [['sim-gpt'], 404],
      [[DEPLOYMENT], 200],
      [[`cloud/${DEPLOYMENT}`], 200],
    ];
    for (const [models, status] of cases) {
      const key = await custody.harness.mintFor(custody.minted.accountId, { models });
      for (const model of [DEPLOYMENT, `cloud/${DEPLOYMENT}`]) {
        expect([models, model, (await custody.chat(model, {}, key.secret)).status]).toEqual([models, model, status]);
      }
    }
  });

  test('not on the messages wire', async () => {
    await custody.putKey();
    const ask = (model: string) =>
      custody.harness.post(
        { model, max_tokens: 10, ...ASK },
        { authorization: `Bearer ${custody.minted.secret}`, 'anthropic-version': '2023-06-01' },
        '/v1/messages',
      );
    const named = await ask(`cloud/${DEPLOYMENT}`);
    expect([named.status, await named.json()]).toMatchObject([400, { error: { code: 'wrong_wire', param: 'model' } }]);
    expect((await ask(DEPLOYMENT)).status).toBe(404);
  });

  test('fields the interface refuses are refused here too', async () => {
    await custody.putKey();
    custody.resource.reset();
    expect(await readRefusal(await custody.chat(DEPLOYMENT, { provider: { order: ['x'] } }))).toMatchObject({
      status: 400,
      param: 'provider',
    });
    expect(custody.resource.calls).toHaveLength(0);
  });
});
