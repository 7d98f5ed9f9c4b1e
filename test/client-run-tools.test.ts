import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Tools that the vendor of the messages wire defines and the client runs. */

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

const ASK = { model: 'sim-claude', max_tokens: 200, messages: [{ role: 'user' as const, content: 'Go on.' }] };
const BASH: Anthropic.ToolBash20250124 = { type: 'bash_20250124', name: 'bash' };
const ALL: Anthropic.ToolUnion[] = [
  BASH,
  { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 10_000 },
  { type: 'memory_20250818', name: 'memory' },
];
const COMPUTER = { type: 'computer_20251124', name: 'computer', display_width_px: 1024, display_height_px: 768 };

describe('on a host of the messages wire', () => {
  test('they pass as they are, and a call and its result go both ways', async () => {
    const first = await client.messages.create({ ...ASK, tools: ALL, tool_choice: { type: 'tool', name: 'bash' } });
    const call = first.content.find((block) => block.type === 'tool_use')!;
    expect(call).toMatchObject({ name: 'bash', input: { command: 'sample' } });
    expect(JSON.parse(harness.sim.calls.at(-1)!.body).tools).toEqual(ALL);
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'done' };
    const messages = [
      ...ASK.messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [result] },
    ];
    const second = await client.messages.stream({ ...ASK, messages, tools: ALL }).finalMessage();
    expect(JSON.stringify(second.content)).toContain('bash said');
  });

  test('their prompts are billed as tokens, within the hold', async () => {
    const plain = await client.messages.create(ASK);
    const { data, response } = await client.messages
      .create({ ...ASK, tools: ALL, tool_choice: { type: 'none' } })
      .withResponse();
    expect(data.usage.input_tokens - plain.usage.input_tokens).toBeGreaterThan(1_500);
    const receipt = await harness.receipt(response.headers.get('request-id')!);
    expect(receipt.cost_nanousd!).toBeLessThan(receipt.held_nanousd);
  });

  test('the beta that one of them needs is sent along', async () => {
    const answer = await harness.post(
      { ...ASK, tools: [COMPUTER] },
      { 'anthropic-beta': 'computer-use-2025-11-24' },
      '/v1/messages',
    );
    expect(answer.status).toBe(200);
    expect(harness.sim.calls.at(-1)!.headers['anthropic-beta']).toBe('computer-use-2025-11-24');
  });

  test('they are counted', async () => {
    const { input_tokens: tokens } = await client.messages.countTokens({
      model: 'sim-claude',
      messages: ASK.messages,
      tools: [BASH],
    });
    expect(tokens).toBeGreaterThan(325);
  });
});

test.each(['web_search_20260209', 'web_fetch_20250910', 'code_execution_20260120'])(
  '%s, which the vendor runs, is refused by name',
  async (type) => {
    const failure = await harness.post({ ...ASK, tools: [BASH, { type, name: 'x' }] }, {}, '/v1/messages');
    const { error } = (await failure.json()) as { error: Record<string, string> };
    expect([failure.status, error.code, error.param]).toEqual([400, 'unsupported_feature', 'tools[1].type']);
    expect(error.message).toContain(`"${type}" runs on the vendor's servers`);
    expect(error.message).toContain('switch it off');
  },
);
