import OpenAI, { AzureOpenAI, BadRequestError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

/** Paths of the cloud provider's SDK lead to the same routes; its key header is accepted. */

let harness: Harness;
let key: MintedKey;
let azure: AzureOpenAI;

const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  key = await harness.mint({ creditNanousd: 10_000_000_000n });
  azure = new AzureOpenAI({
    endpoint: harness.url,
    apiKey: key.secret,
    apiVersion: '2025-04-01-preview',
    maxRetries: 0,
  });
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return harness.post(body, { 'api-key': key.secret, ...headers }, path);
}

describe('the official AzureOpenAI class', () => {
  test('chat, buffered and streamed, with a receipt', async () => {
    const { data, response } = await azure.chat.completions
      .create({ model: 'sim-gpt', messages: MESSAGES })
      .withResponse();
    expect(new URL(response.url).pathname).toBe('/openai/deployments/sim-gpt/chat/completions');
    expect(data.choices[0]!.message.content).toContain('simulated');
    expect(Number(response.headers.get('x-gateway-cost-nanousd'))).toBeGreaterThan(0);
    let text = '';
    const stream = await azure.chat.completions.create({ model: 'sim-claude', messages: MESSAGES, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toContain('simulated');
  });

  test('completions, embeddings and responses', async () => {
    const completion = await azure.completions.create({ model: 'sim-gpt', prompt: 'Hello', max_tokens: 30 });
    expect(completion.choices[0]!.text).toContain('simulated');
    const { data } = await azure.embeddings.create({ model: 'sim-embed', input: 'Hello' });
    expect(data[0]!.embedding).toHaveLength(256);
    const response = await azure.responses.create({ model: 'sim-responses', input: 'Hello' });
    expect(response.output_text).toContain('simulated');
  });

  test('a deployment that is named once for all calls', async () => {
    const named = new AzureOpenAI({
      endpoint: harness.url,
      apiKey: key.secret,
      apiVersion: '2024-10-21',
      deployment: 'vendor/sim-gpt',
    });
    const { data, response } = await named.chat.completions.create({ model: '', messages: MESSAGES }).withResponse();
    expect(new URL(response.url).pathname).toBe('/openai/deployments/vendor%2Fsim-gpt/chat/completions');
    expect(data.model).toBe('sim-gpt');
    expect(response.headers.get('x-gateway-requested-model')).toBe('vendor/sim-gpt');
  });

  test('an invalid key, and a model that does not exist, throw what they should', async () => {
    const stranger = new AzureOpenAI({ endpoint: harness.url, apiKey: 'tg_live_no', apiVersion: '2024-10-21' });
    await expect(stranger.chat.completions.create({ model: 'sim-gpt', messages: MESSAGES })).rejects.toMatchObject({
      status: 401,
    });
    await expect(azure.chat.completions.create({ model: 'nobody', messages: MESSAGES })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

test('the newer form of these paths serves the plain class', async () => {
  const plain = new OpenAI({ baseURL: `${harness.url}/openai/v1`, apiKey: key.secret });
  const answer = await plain.responses.create({ model: 'sim-gpt', input: 'Hello' });
  expect(answer.output_text).toContain('simulated');
  expect((await plain.models.list()).data.map(({ id }) => id)).toContain('sim-gpt');
});

describe('the model of the path', () => {
  test.each(['chat/completions', 'responses'])('is used at %s if the body has none', async (route) => {
    const body = route === 'responses' ? { input: 'Hello' } : { messages: MESSAGES };
    for (const model of [undefined, null, '']) {
      const answer = await post(`/openai/deployments/sim-gpt-mini/${route}?api-version=1`, { ...body, model });
      expect([answer.status, answer.headers.get('x-gateway-effective-model')]).toEqual([200, 'sim-gpt-mini']);
    }
  });

  test('that differs from the body’s is refused, and nothing is charged', async () => {
    const failure = await azure.chat.completions
      .create({ model: 'sim-gpt', messages: MESSAGES }, { path: '/deployments/sim-claude/chat/completions' })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param: 'model' });
    expect((failure as BadRequestError).headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(harness.sim.calls).toHaveLength(0);
  });

  test('is part of what an idempotency key stands for', async () => {
    const once = { 'idempotency-key': 'same' };
    const first = await post('/openai/deployments/sim-gpt/chat/completions', { messages: MESSAGES }, once);
    const other = await post('/openai/deployments/sim-gpt-mini/chat/completions', { messages: MESSAGES }, once);
    const again = await post('/openai/deployments/sim-gpt/chat/completions', { messages: MESSAGES }, once);
    expect([first.status, other.status, again.status]).toEqual([200, 422, 200]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });
});

test('a quote takes these paths, with or without the model in the body', async () => {
  const body = { messages: MESSAGES, max_tokens: 50 };
  const quoteOf = async (path: string, more: object) => {
    const response = await post('/v1/quote', { path, body: { ...body, ...more } });
    return [response.status, await response.json()];
  };
  const named = { model: 'sim-gpt' };
  const [status, plain] = await quoteOf('/v1/chat/completions', named);
  expect(status).toBe(200);
  const path = '/openai/deployments/sim-gpt/chat/completions';
  expect(await quoteOf(path, named)).toEqual([200, plain]);
  expect(await quoteOf(`${path}?api-version=2024-10-21`, {})).toEqual([200, plain]);
  expect((await quoteOf(path, { model: 'sim-claude' }))[0]).toBe(400);
  expect((await quoteOf('/openai/deployments/sim-gpt/models', named))[0]).toBe(400);
});

describe('other paths below a deployment', () => {
  test('are unknown, and another method is refused with the right one', async () => {
    expect((await post('/openai/deployments/sim-gpt/nothing', {})).status).toBe(404);
    const wrong = await harness.get('/openai/deployments/sim-gpt/chat/completions', { 'api-key': key.secret });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('an unsupported route is refused by name under every prefix', async () => {
    const answer = await post('/openai/v1/batches', {});
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      'unsupported_route',
    ]);
  });
});
