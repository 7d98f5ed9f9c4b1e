import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Tool loops of clients that do not send reasoning back, with a model that wants it back. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

const PARAMETERS = { type: 'object', properties: {} };
const CHAT = {
  tools: [{ type: 'function', function: { name: 'open', parameters: PARAMETERS } }],
  messages: [
    { role: 'user', content: 'Go on.' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'open', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
  ],
};
const RESPONSES = {
  tools: [{ type: 'function', name: 'open', parameters: PARAMETERS, strict: false }],
  input: [
    { role: 'user', content: 'Go on.' },
    { type: 'function_call', call_id: 'c1', name: 'open', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'done' },
  ],
};

test.each<[string, object, string]>([
  ['/v1/chat/completions', { ...CHAT, reasoning_effort: 'low' }, 'reasoning_effort=dropped'],
  ['/v1/chat/completions', { ...CHAT, reasoning: { max_tokens: 1500 } }, 'reasoning=dropped'],
  ['/v1/responses', { ...RESPONSES, reasoning: { effort: 'low' } }, 'reasoning=dropped'],
])('on %s they go on without reasoning, and the response says so', async (path, body, adjusted) => {
  const response = await harness.post({ model: 'sim-claude', ...body }, {}, path);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('open said')]);
  expect(response.headers.get('x-gateway-adjusted')).toBe(adjusted);
  expect(JSON.parse(harness.sim.calls.at(-1)!.body)).not.toHaveProperty('thinking');
});

test('a new question is reasoned about', async () => {
  const messages = [...CHAT.messages, { role: 'assistant', content: 'Done.' }, { role: 'user', content: 'And now?' }];
  const body = { model: 'sim-claude', ...CHAT, messages, reasoning_effort: 'low' };
  const response = await harness.post(body, {}, '/v1/chat/completions');
  expect(response.status).toBe(200);
  expect(response.headers.get('x-gateway-adjusted')).toBeNull();
  expect(JSON.parse(harness.sim.calls.at(-1)!.body)).toHaveProperty('thinking');
});

const FORCED = { ...CHAT, messages: [{ role: 'user', content: 'Go on.' }], tool_choice: 'required', max_tokens: 4000 };

test('the field that asked for reasoning is named, not another that says how to show it', async () => {
  const thinking = { type: 'enabled', budget_tokens: 2000 };
  const body = { model: 'sim-claude', ...FORCED, reasoning: { exclude: true }, thinking };
  const response = await harness.post(body, {}, '/v1/chat/completions');
  await response.text();
  expect(response.headers.get('x-gateway-adjusted')).toBe('thinking=dropped');
});

test('a tool that must be called is called without reasoning, and the response says so', async () => {
  const body = { model: 'sim-claude', ...FORCED, reasoning_effort: 'high' };
  const response = await harness.post(body, {}, '/v1/chat/completions');
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"name":"open"')]);
  expect(response.headers.get('x-gateway-adjusted')).toBe('reasoning_effort=dropped');
  expect(JSON.parse(harness.sim.calls.at(-1)!.body)).not.toHaveProperty('thinking');
});
