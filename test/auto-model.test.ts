import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import { Secret } from '../src/kit/secret.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

/** `auto` and `default` in real calls, and the header that names the chosen model. */

const SIM_GPT = loadSimulatedFile().models.find(({ id }) => id === 'sim-gpt')!;
const TALK = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 };

/** On the real host, with rates of whole nanodollars per token, so that it is obvious which is the cheapest. */
function real(id: string, input: number, output: number, more: Partial<ModelRow> = {}): ModelRow {
  return {
    id,
    caps: ['chat'],
    context_window: 100_000,
    max_output_tokens: 4096,
    price: { input: input * 1_000_000, output: output * 1_000_000 },
    hosts: [{ host: 'real', model: id, wire: 'chat' }],
    ...more,
  };
}

const MODELS: ModelRow[] = [
  real('cheap-output', 9000, 10),
  real('cheap-input', 10, 9000),
  real('tools', 20_000, 20_000, { caps: ['chat', 'tools'] }),
  real('long', 50_000, 50_000, { context_window: 900_000, max_output_tokens: 100_000 }),
  real('vectors', 10, 0, {
    caps: ['embeddings'],
    max_output_tokens: 0,
    hosts: [{ host: 'real', model: 'sim-embed', wire: 'embeddings' }],
    embedding: { dimensions: 256, matryoshka: true },
  }),
  { ...SIM_GPT, id: 'pretended', price: { input: 0, output: 0 } },
];

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({
    hosted: true,
    config: { models: MODELS },
    hosts: (sim) => [simHost(sim), simHost(sim, { name: 'real', simulated: false })],
  });
});
beforeEach(() => harness.sim.reset());
afterEach(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(() => harness.stop());

interface Told {
  readonly status: number;
  readonly effective: string | null;
  readonly code: string | null;
  readonly message: string;
}

async function ask(
  body: object,
  { models = null as string[] | null, path = '/v1/chat/completions', headers = {} } = {},
) {
  const { secret } = await harness.mint({ models, creditNanousd: 100_000_000_000n });
  const response = await harness.post({ model: 'auto', ...body }, { 'x-api-key': secret, ...headers }, path);
  const text = (await response.json()) as { model?: string; error?: { code: string; message: string } };
  const told: Told = {
    status: response.status,
    effective: response.headers.get('x-gateway-effective-model'),
    code: text.error?.code ?? null,
    message: text.error?.message ?? '',
  };
  if (response.ok) expect(response.headers.get('x-gateway-requested-model')).toBe('auto');
  if (response.ok) expect(text.model).toBe(told.effective);
  return told;
}

describe('auto', () => {
  test('takes the cheapest by worst case: a short answer to much input, a long one to little', async () => {
    expect(await ask({ messages: [{ role: 'user', content: 'x'.repeat(5000) }], max_tokens: 1 })).toMatchObject({
      status: 200,
      effective: 'cheap-input',
    });
    expect(await ask({ ...TALK, max_tokens: 4000 })).toMatchObject({ status: 200, effective: 'cheap-output' });
  });

  test('takes a more expensive one for a capability, a window or a longer answer', async () => {
    const tools = [{ type: 'function', function: { name: 'open', parameters: { type: 'object' } } }];
    expect(await ask({ ...TALK, tools })).toMatchObject({ effective: 'tools' });
    const prompt = 'word '.repeat(100_000);
    expect(await ask({ ...TALK, messages: [{ role: 'user', content: prompt }] })).toMatchObject({ effective: 'long' });
    expect(await ask({ ...TALK, max_tokens: 5000 })).toMatchObject({ effective: 'long' });
  });

  test('keeps to the models of the key, and to those of the route', async () => {
    expect(await ask(TALK, { models: ['long', 'vectors'] })).toMatchObject({ effective: 'long' });
    const embedded = await ask({ input: 'x' }, { path: '/v1/embeddings' });
    expect(embedded).toMatchObject({ status: 200, effective: 'vectors' });
  });

  test('is never a simulated model while there is a real host, however cheap', async () => {
    const told = await ask(TALK, { models: ['pretended'] });
    expect(told).toMatchObject({ status: 404, code: 'model_not_found', effective: null });
    expect(harness.sim.received()).toBe(0);
  });

  test('says of the request what keeps every model from it', async () => {
    expect(await ask({ ...TALK, max_tokens: 200_000 })).toMatchObject({ status: 400, code: 'invalid_value' });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const seen = await ask({ messages: [{ role: 'user', content: [image] }] });
    expect(seen).toMatchObject({ status: 400, code: 'missing_capability' });
    expect(seen.message).toContain('No model that this key may use');
  });

  test('is refused by a ceiling that not even the cheapest fits', async () => {
    const told = await ask(TALK, { headers: { 'x-gateway-max-cost-nanousd': '1' } });
    expect(told).toMatchObject({ status: 402, code: 'cost_ceiling_exceeded', effective: 'cheap-input' });
    const fits = { 'x-gateway-max-cost-nanousd': '20000000' };
    expect(await ask(TALK, { headers: fits })).toMatchObject({ status: 200 });
  });
});

test('auto says that no host is available, and when to ask again, though other models could not serve the request anyway', async () => {
  const own = await startHarness({
    config: { models: MODELS },
    hosts: (sim) => [{ ...simHost(sim, { name: 'real', simulated: false }), key: new Secret('of-the-operator') }],
  });
  own.sim.script({ status: 401 });
  const tools = [{ type: 'function', function: { name: 'open', parameters: { type: 'object' } } }];
  const call = (): Promise<Response> => own.post({ ...TALK, model: 'auto', tools });
  expect((await call()).status).toBe(502);
  const refused = await call();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '300']);
  expect(await refused.json()).toMatchObject({ error: { code: 'no_healthy_host' } });
  await own.stop();
});

test('a receipt tells what was asked for and what answered', async () => {
  const { secret } = await harness.mint();
  const response = await harness.post({ ...TALK, model: 'default' }, { 'x-api-key': secret });
  expect(await harness.receipt(response.headers.get('x-gateway-request-id')!, secret)).toMatchObject({
    requested_model: 'default',
    effective_model: 'cheap-input',
  });
});

test('default is the operator’s model; another one only where that cannot serve the route', async () => {
  const own = await startHarness({ config: { defaultModel: 'vendor/sim-gpt' } });
  const chat = await own.post({ ...TALK, model: 'default' });
  expect([chat.status, chat.headers.get('x-gateway-effective-model')]).toEqual([200, 'sim-gpt']);
  const vectors = await own.post({ model: 'default', input: 'x' }, {}, '/v1/embeddings');
  expect([vectors.status, vectors.headers.get('x-gateway-effective-model')]).toEqual([200, 'sim-embed']);
  const count = await own.post(
    { model: 'default', messages: TALK.messages },
    { 'anthropic-version': '2023-06-01' },
    '/v1/messages/count_tokens',
  );
  expect([count.status, count.headers.get('x-gateway-effective-model')]).toEqual([200, 'sim-claude']);
  expect(await (await own.get('/v1/models/default')).json()).toMatchObject({ id: 'sim-gpt' });
  await own.stop();
});

test('model lists of keys scope the listings and single models in both shapes', async () => {
  const { secret } = await harness.mint({ models: ['long', 'tools', 'gone'] });
  const headers = { 'x-api-key': secret };
  const list = (await (await harness.get('/v1/models', headers)).json()) as { data: { id: string }[] };
  expect(list.data.map(({ id }) => id)).toEqual(['long', 'tools']);
  const vendor = { ...headers, 'anthropic-version': '2023-06-01' };
  const messages = (await (await harness.get('/v1/models', vendor)).json()) as { data: { id: string }[] };
  expect(messages.data.map(({ id }) => id)).toEqual(['long', 'tools']);
  for (const [id, status] of [
    ['long', 200],
    ['vendor%2Flong', 200],
    ['cheap-input', 404],
    ['vendor%2Fcheap-input', 404],
    ['auto', 404],
    ['gone', 404],
  ] as const) {
    expect([id, (await harness.get(`/v1/models/${id}`, headers)).status]).toEqual([id, status]);
    expect([id, (await harness.get(`/v1/models/${id}`, vendor)).status]).toEqual([id, status]);
  }
  const refused = await harness.post({ ...TALK, model: 'cheap-input' }, headers);
  expect([refused.status, refused.headers.get('x-gateway-effective-model')]).toEqual([404, null]);
});
