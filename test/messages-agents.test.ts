import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** What coding agents send on the messages wire beyond the plain one. */

let harness: Harness;
let client: Anthropic;

beforeAll(async () => {
  harness = await startHarness();
  client = new Anthropic({ baseURL: harness.url, apiKey: 'unused', maxRetries: 0 });
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const QUESTION = { role: 'user' as const, content: 'Go on.' };
const ASK = { model: 'sim-claude', max_tokens: 2_000, messages: [QUESTION] };
const SEARCH = { name: 'find_tools', input_schema: { type: 'object' as const } };
const FETCH = {
  name: 'fetch_page',
  description: 'Fetches a page. '.repeat(200),
  input_schema: { type: 'object' as const },
  defer_loading: true,
};

/** The turns in which a search of the client’s own has found a tool this many times. */
function found(times: number): Anthropic.Beta.BetaMessageParam[] {
  const ids = Array.from({ length: times }, (_, index) => `toolu_${index}`);
  return [
    QUESTION,
    { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: SEARCH.name, input: {} })) },
    {
      role: 'user',
      content: ids.map((id) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: [{ type: 'tool_reference', tool_name: FETCH.name }],
      })),
    },
  ];
}

function lastSent(): Record<string, unknown> {
  return JSON.parse(harness.sim.calls.at(-1)!.body) as Record<string, unknown>;
}

test('context management that keeps all thinking reaches the host with its beta', async () => {
  const context_management = { edits: [{ type: 'clear_thinking_20251015' as const, keep: 'all' as const }] };
  const betas = ['context-management-2025-06-27'];
  await client.beta.messages.create({
    ...ASK,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    context_management,
    betas,
  });
  expect(lastSent()).toMatchObject({ context_management });
  await client.beta.messages.countTokens({ model: ASK.model, messages: ASK.messages, context_management, betas });
  expect(lastSent()).toMatchObject({ context_management });
});

describe('a tool that the client has found by a search of its own', () => {
  test('is sent as a reference, and billed within the hold however often it is found', async () => {
    const tools = [SEARCH, FETCH];
    const costs: number[] = [];
    for (const times of [1, 60]) {
      const { data, response } = await client.beta.messages
        .create({ ...ASK, max_tokens: 50, tools, messages: found(times), betas: ['advanced-tool-use-2025-11-20'] })
        .withResponse();
      expect(lastSent()).toMatchObject({ messages: found(times), tools });
      const receipt = await harness.receipt(response.headers.get('request-id')!);
      expect(receipt.cost_nanousd!).toBeLessThan(receipt.held_nanousd);
      costs.push(data.usage.input_tokens);
    }
    expect(costs[1]!).toBeGreaterThan(costs[0]! * 3);
  });

  test('is refused if it has no name', async () => {
    const content = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'tool_reference' }] }];
    const failure = await harness.post({ ...ASK, messages: [{ role: 'user', content }] }, {}, '/v1/messages');
    const { error } = (await failure.json()) as { error: Record<string, string> };
    expect([failure.status, error.param]).toEqual([400, 'messages[0].content[0].content[0].tool_name']);
  });
});

describe('tools that change in the middle of a conversation', () => {
  const betas = ['mid-conversation-tool-changes-2026-07-01'];
  const change = (...content: object[]) =>
    [QUESTION, { role: 'system', content }] as unknown as Anthropic.Beta.BetaMessageParam[];

  test('are sent as they are, and billed within the hold', async () => {
    const messages = change(
      { type: 'tool_removal', tool: { type: 'tool_reference', name: SEARCH.name } },
      { type: 'tool_addition', tool: { type: 'tool_reference', name: FETCH.name } },
      { type: 'tool_addition', tool: { type: 'tool_definition', definition: { ...FETCH, name: 'later' } } },
    );
    const { response } = await client.beta.messages
      .create({ ...ASK, tools: [SEARCH, FETCH], messages, betas })
      .withResponse();
    expect(lastSent()).toMatchObject({ messages });
    const receipt = await harness.receipt(response.headers.get('request-id')!);
    expect(receipt.cost_nanousd!).toBeLessThan(receipt.held_nanousd);
  });

  test.each<[object, string]>([
    [{ type: 'mcp_toolset_reference', server_name: 'x' }, 'type'],
    [{ type: 'tool_definition', definition: { type: 'web_search_20250305', name: 'x' } }, 'definition.type'],
  ])('%j runs elsewhere and is refused by name', async (tool, param) => {
    const messages = change({ type: 'tool_addition', tool });
    const failure = await harness.post({ ...ASK, messages }, { 'anthropic-beta': betas[0]! }, '/v1/messages');
    const { error } = (await failure.json()) as { error: Record<string, string> };
    expect([failure.status, error.code, error.param]).toEqual([
      400,
      'unsupported_feature',
      `messages[1].content[0].tool.${param}`,
    ]);
  });
});
