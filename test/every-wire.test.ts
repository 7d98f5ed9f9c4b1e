import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { MESSAGES, QUESTIONS, WIRE_CASES } from './wire-cases.ts';

/** What is the same on every wire: receipts, ceilings and refusals, each in the wire's own format. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  await harness.expectCleanBooks();
});

afterAll(async () => {
  await harness.stop();
});

function sumOf(components: string | null): bigint {
  return components!.split(',').reduce((sum, part) => sum + BigInt(part.split('=')[1]!), 0n);
}

/** The error, wherever the wire puts it. */
async function errorOf(response: Response): Promise<Record<string, unknown>> {
  return ((await response.json()) as { error: Record<string, unknown> }).error;
}

/** The last error among the frames of a stream. */
function errorIn(stream: string): Record<string, unknown> {
  const frames = stream.split('\n').filter((line) => line.startsWith('data: {'));
  const errors = frames.map((line) => (JSON.parse(line.slice(6)) as { error?: Record<string, unknown> }).error);
  return errors.findLast((error) => error !== undefined)!;
}

describe.each(Object.entries(WIRE_CASES))('%s', (_name, { path, body, streams }) => {
  test('a buffered response has its receipt in headers and body, and the receipt can be read later', async () => {
    const response = await harness.post(body, {}, path);
    expect(response.status).toBe(200);
    const cost = response.headers.get('x-gateway-cost-nanousd')!;
    expect(BigInt(cost)).toBeGreaterThan(0n);
    expect(sumOf(response.headers.get('x-gateway-cost-components-nanousd'))).toBe(BigInt(cost));
    expect(response.headers.get('x-gateway-requested-model')).toBe(body.model);
    expect(response.headers.get('x-gateway-effective-model')).toBe(body.model);
    const { usage } = (await response.json()) as { usage: Record<string, number> };
    expect(usage.cost_nanousd).toBe(Number(cost));
    expect(usage.cost).toBe(Number(cost) / 1e9);
    const id = response.headers.get('x-gateway-request-id');
    expect(response.headers.get('request-id')).toBe(id);
    expect(response.headers.get('x-request-id')).toBe(id);
    const receipt = (await (await harness.get(`/v1/receipts/${id}`)).json()) as Record<string, unknown>;
    expect(receipt).toMatchObject({ cost_nanousd: Number(cost), ended: 'complete', status: 'settled' });
  });

  test.runIf(streams)('a stream names the models in its head and no cost in head or usage', async () => {
    const asked = { ...body, stream: true };
    const response = await harness.post(asked, {}, path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-gateway-effective-model')).toBe(body.model);
    expect(response.headers.get('x-gateway-cost-nanousd')).toBeNull();
    const text = await response.text();
    expect(text.replace(/event: gateway_receipt\ndata: .*\n/, '')).not.toMatch(/"cost(_nanousd)?":/);
    await harness.settled();
  });

  test.runIf(streams)(
    'a stream that breaks off ends with the error of a whole response, without a terminator',
    async () => {
      harness.sim.script({ status: 500 }, { times: 1 });
      const whole = await errorOf(await harness.post(body, {}, path));
      harness.sim.script({ errorAfterChunks: 6 }, { times: 1 });
      const response = await harness.post({ ...body, stream: true }, {}, path);
      expect([response.status, response.headers.get('x-gateway-cost-nanousd')]).toEqual([200, null]);
      const text = await response.text();
      const error = errorIn(text);
      expect(['host_failed', 'overloaded']).toContain(error.code);
      expect(Object.keys(error).toSorted()).toEqual(Object.keys(whole).toSorted());
      expect(text).not.toMatch(/\[DONE\]|message_stop|gateway_receipt|response\.(completed|incomplete)/);
      await harness.settled();
      const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!);
      expect(receipt).toMatchObject({ ended: 'upstream_error', http_status: 200 });
      expect(receipt.cost_nanousd).toBeGreaterThan(0);
    },
  );

  test('a ceiling below the worst case refuses before any host is asked', async () => {
    const before = harness.sim.received();
    const response = await harness.post(body, { 'x-gateway-max-cost-nanousd': '1' }, path);
    expect(response.status).toBe(402);
    expect(await errorOf(response)).toMatchObject({ code: 'cost_ceiling_exceeded' });
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(harness.sim.received()).toBe(before);
  });

  const REFUSED = {
    provider: { order: ['a'] },
    models: ['a', 'b'],
    route: 'fallback',
    fallbacks: ['a'],
    transforms: ['middle-out'],
    plugins: [{ id: 'web' }],
    preset: 'mine',
    guardrails: ['a'],
    moderation: true,
    truncation: 'auto',
    context_management: { edits: [1] },
    previous_response_id: 'resp_1',
    conversation: 'conv_1',
    background: true,
    store: true,
    prediction: { type: 'content', content: 'x' },
  };

  test.each(Object.entries(REFUSED))('%s is refused by name, without hold or host', async (field, value) => {
    const before = harness.sim.received();
    const response = await harness.post({ ...body, [field]: value }, {}, path);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'unsupported_feature', param: field });
    expect(harness.sim.received()).toBe(before);
  });

  test('another gateway’s model suffix is refused by name', async () => {
    const response = await harness.post({ ...body, model: `${body.model}:nitro` }, {}, path);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'unsupported_feature', param: 'model' });
  });

  test('a model that nobody serves is not found', async () => {
    const response = await harness.post({ ...body, model: 'nobody/has-this' }, {}, path);
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  test('a failing host costs nothing and is named nowhere', async () => {
    harness.sim.script({ status: 500 }, { times: 1 });
    const response = await harness.post(body, {}, path);
    expect(response.status).toBe(502);
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(await errorOf(response)).toMatchObject({ code: 'host_failed' });
  });
});

/** The fields of the interface that every completion route has. */
describe.each([
  ['/v1/chat/completions', { model: 'sim-gpt', max_tokens: 4000, messages: MESSAGES }],
  ['/v1/chat/completions', { model: 'sim-claude', max_tokens: 4000, messages: MESSAGES }],
  ['/v1/messages', { model: 'sim-claude', max_tokens: 4000, messages: MESSAGES }],
  ['/v1/responses', { model: 'sim-responses', max_output_tokens: 4000, input: 'Hello' }],
  ['/v1/completions', { model: 'sim-gpt', max_tokens: 4000, prompt: 'Hello' }],
])('%s with %o', (path, body) => {
  test.each([{ reasoning_effort: 'high' }, { reasoning: { effort: 'high' } }])('reasons with %o', async (fields) => {
    const plain = await harness.post(body, {}, path);
    const reasoned = await harness.post({ ...body, ...fields }, {}, path);
    expect(reasoned.status).toBe(200);
    const cost = (response: Response) => Number(response.headers.get('x-gateway-cost-nanousd'));
    expect(cost(reasoned)).toBeGreaterThan(cost(plain));
  });

  test('refuses an effort that is not in the vocabulary', async () => {
    const response = await harness.post({ ...body, reasoning_effort: 'most' }, {}, path);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_value', param: 'reasoning_effort' });
  });
});

test.each([
  ['/v1/messages', { max_tokens: 1000, messages: MESSAGES }, 'max_tokens'],
  ['/v1/chat/completions', { max_tokens: 1000, messages: MESSAGES }, 'max_tokens'],
  ['/v1/chat/completions', { max_completion_tokens: 1000, messages: MESSAGES }, 'max_completion_tokens'],
  ['/v1/responses', { max_output_tokens: 1000, input: 'Hello' }, 'max_output_tokens'],
  ['/v1/responses', { input: 'Hello', reasoning: { max_tokens: 5000 } }, 'max_output_tokens'],
  ['/v1/completions', { prompt: 'Hello' }, 'max_tokens'],
])(
  '%s: an effort that leaves no room for the answer is refused before any hold, by the name of the limit: %o',
  async (path, fields, param) => {
    const effort = 'reasoning' in fields ? {} : { reasoning_effort: 'high' };
    const before = harness.sim.received();
    const response = await harness.post({ model: 'sim-claude', ...effort, ...fields }, {}, path);
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: 'invalid_value', param });
    expect(error.message).toContain(`\`${param}\``);
    expect((await harness.get(`/v1/receipts/${response.headers.get('request-id')}`)).status).toBe(404);
    expect(harness.sim.received()).toBe(before);
  },
);

/** Models on routes that they do not belong to. */
describe.each([
  ['/v1/chat/completions', { model: 'sim-decide', messages: MESSAGES }],
  ['/v1/chat/completions', { model: 'sim-embed', messages: MESSAGES }],
  ['/v1/messages', { model: 'sim-gpt', max_tokens: 5, messages: MESSAGES }],
  ['/v1/messages', { model: 'sim-decide', max_tokens: 5, messages: MESSAGES }],
  ['/v1/responses', { model: 'sim-decide', input: 'x' }],
  ['/v1/completions', { model: 'sim-decide', prompt: 'x' }],
  ['/v1/embeddings', { model: 'sim-gpt', input: 'x' }],
  ['/v1/systemone', { model: 'sim-gpt', state: 'x', questions: QUESTIONS }],
])('%s with %o', (path, body) => {
  test('is refused by the name of the model', async () => {
    const response = await harness.post(body, {}, path);
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: 'wrong_wire', param: 'model' });
    expect(error.message).toContain(body.model);
  });
});
