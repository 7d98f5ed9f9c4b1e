import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Counting a prompt of the responses wire. It is free, and takes no hold. */

let harness: Harness;
let client: OpenAI;

beforeAll(async () => {
  harness = await startHarness();
  client = harness.openai('unused', { maxRetries: 0 });
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const TOOLS: OpenAI.Responses.Tool[] = [
  { type: 'namespace', name: 'crm', description: 'Customers.', tools: [{ type: 'function', name: 'list' }] },
  { type: 'custom', name: 'patch' },
];
const PROMPT = {
  instructions: 'Be brief.',
  input: [{ role: 'user' as const, content: 'How long is this?' }],
  tools: TOOLS,
  reasoning: { effort: 'low' as const },
  parallel_tool_calls: true,
};

function lastCall(): { path: string; body: Record<string, unknown> } {
  const { path, body } = harness.sim.calls.at(-1)!;
  return { path, body: JSON.parse(body) };
}

describe('the count of a prompt', () => {
  test('is what the model’s own host bills as its input', async () => {
    const counted = await client.responses.inputTokens.count({ model: 'sim-responses', ...PROMPT });
    expect(lastCall().path).toBe('/v1/responses/input_tokens');
    const { usage } = await client.responses.create({ model: 'sim-responses', ...PROMPT });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: usage!.input_tokens });
  });

  test('of a model whose hosts count on another wire is theirs', async () => {
    const counted = await client.responses.inputTokens.count({ model: 'sim-claude', ...PROMPT });
    expect(lastCall().path).toBe('/v1/messages/count_tokens');
    expect(Object.keys(lastCall().body).toSorted()).toEqual(['messages', 'model', 'system', 'tools']);
    const { usage } = await client.responses.create({ model: 'sim-claude', ...PROMPT, reasoning: null });
    expect(counted.input_tokens).toBe(usage!.input_tokens);
  });

  test('for "auto" is that of the cheapest model with a host that counts', async () => {
    const count = client.responses.inputTokens.count({ model: 'auto', ...PROMPT });
    const { response } = await count.withResponse();
    expect(response.headers.get('x-gateway-effective-model')).toBe('sim-responses');
  });

  test('costs nothing, and leaves no receipt', async () => {
    const { response } = await client.responses.inputTokens
      .count({ model: 'sim-responses', input: 'x' })
      .withResponse();
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    const id = response.headers.get('x-gateway-request-id');
    expect((await harness.get(`/v1/receipts/${id}`)).status).toBe(404);
  });

  test.each(['/responses/input_tokens', '/openai/v1/responses/input_tokens'])('is also at %s', async (path) => {
    expect((await harness.post({ model: 'sim-responses', input: 'x' }, {}, path)).status).toBe(200);
  });
});

describe('is refused', () => {
  test('for a model none of whose hosts counts', async () => {
    const failure = client.responses.inputTokens.count({ model: 'sim-gpt', input: 'x' });
    await expect(failure).rejects.toMatchObject({ status: 400, code: 'unsupported_feature', param: 'model' });
    expect(harness.sim.calls).toHaveLength(0);
  });

  test('for a host of the wire that does not have the route', async () => {
    harness.sim.script({ status: 404 });
    const failure = client.responses.inputTokens.count({ model: 'sim-responses', input: 'x' });
    await expect(failure).rejects.toMatchObject({ status: 400, code: 'unsupported_feature', param: 'model' });
  });

  test('with a field that is not part of a prompt', async () => {
    const answer = await harness.post(
      { model: 'sim-responses', input: 'x', temperature: 1 },
      {},
      '/v1/responses/input_tokens',
    );
    expect([answer.status, ((await answer.json()) as { error: { param: string } }).error.param]).toEqual([
      400,
      'temperature',
    ]);
  });
});
