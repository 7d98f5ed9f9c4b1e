import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dataOf, type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { countTokens } from '../../tokens.ts';

interface Thought {
  type: string;
  thinking?: string;
  signature?: string;
  data?: string;
}

interface Message {
  content: Thought[];
  usage: { output_tokens: number; output_tokens_details?: { thinking_tokens: number } };
}

const ASK = { model: 'sim-claude', max_tokens: 4096, messages: [{ role: 'user', content: 'Think.' }] };
const ENABLED = { thinking: { type: 'enabled', budget_tokens: 1024 } };
const ADAPTIVE = { model: 'sim-claude-adaptive', thinking: { type: 'adaptive' } };
const TOOLS = [{ name: 'look', input_schema: { type: 'object' } }];

let sim: Sim;
let caller: SimCaller<Message>;

beforeAll(async () => {
  sim = await startSim();
  caller = new SimCaller(sim, '/v1/messages', ASK, { 'anthropic-version': '2023-06-01' });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

async function rejection(more: Json): Promise<unknown> {
  const { status, body } = await caller.refusal(more);
  expect(status).toBe(400);
  return (body.error as { message: string }).message;
}

describe('thinking', () => {
  test('comes signed, and counts as output', async () => {
    const { content, usage } = await caller.complete(ENABLED);
    const [thought] = content;
    expect(thought).toMatchObject({ type: 'thinking', signature: expect.stringMatching(/^[\w+/]{80,}=*$/) });
    expect(usage.output_tokens_details!.thinking_tokens).toBe(countTokens(thought!.thinking!));
    expect((await caller.complete(ENABLED)).content[0]).toEqual(thought);
    expect((await caller.complete()).content.map((block) => block.type)).toEqual(['text']);
    expect((await caller.complete({ thinking: { type: 'disabled' } })).content).toHaveLength(1);
  });

  test('streams its words and then its signature, whole and once', async () => {
    const [thought] = (await caller.complete(ENABLED)).content;
    const events = dataOf(await caller.stream(ENABLED)).filter((event) => event.index === 0);
    expect(events[0]).toMatchObject({ content_block: { type: 'thinking', thinking: '', signature: '' } });
    const deltas = events
      .filter((event) => event.type === 'content_block_delta')
      .map((event) => event.delta as { type: string; thinking?: string; signature?: string });
    expect(deltas.pop()).toEqual({ type: 'signature_delta', signature: thought!.signature });
    expect(deltas.every((delta) => delta.type === 'thinking_delta')).toBe(true);
    expect(deltas.map((delta) => delta.thinking).join('')).toBe(thought!.thinking);
  });

  test('grows with the effort of an adaptive model, which shows none of it unless asked', async () => {
    const thought = async (effort: string | undefined, display?: string) =>
      caller.complete({ ...ADAPTIVE, thinking: { type: 'adaptive', display }, output_config: { effort } });
    const tokens = async (effort?: string) => (await thought(effort)).usage.output_tokens_details!.thinking_tokens;
    expect(await tokens('low')).toBeLessThan(await tokens('max'));
    expect(await tokens()).toBe(await tokens('high'));
    const hidden = (await thought('low')).content[0]!;
    expect([hidden.thinking, hidden.signature!.length > 80]).toEqual(['', true]);
    const kinds = dataOf(await caller.stream(ADAPTIVE))
      .filter((event) => event.index === 0 && event.delta !== undefined)
      .map((event) => (event.delta as { type: string }).type);
    expect(kinds).toEqual(['signature_delta']);
    expect((await thought('low', 'summarized')).content[0]!.thinking).not.toBe('');
    expect((await thought('low', 'updates')).content[0]!.thinking).toBe('');
  });

  test('can come redacted, complete in the opening of its block', async () => {
    const redacted = { ...ENABLED, sim: { redactThinking: true } };
    const [block] = (await caller.complete(redacted)).content;
    expect(block).toEqual({ type: 'redacted_thinking', data: expect.any(String) });
    const events = dataOf(await caller.stream(redacted)).filter((event) => event.index === 0);
    expect(events).toEqual([
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_stop', index: 0 },
    ]);
  });
});

describe('a thought that comes back', () => {
  function again(thoughts: unknown[], more: Json = ENABLED): Json {
    const call = { type: 'tool_use', id: 't1', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'seen' };
    return {
      ...more,
      tools: TOOLS,
      messages: [
        ...ASK.messages,
        { role: 'assistant', content: [...thoughts, call] },
        { role: 'user', content: [result] },
      ],
    };
  }

  test.each<[string, Json]>([
    ['shown', ENABLED],
    ['hidden', ADAPTIVE],
    ['redacted', { ...ENABLED, sim: { redactThinking: true } }],
  ])('untouched is accepted: %s', async (_, more) => {
    const [thought] = (await caller.complete(more)).content;
    expect((await caller.complete(again([thought], more))).content.at(-1)).toMatchObject({ type: 'text' });
  });

  test('is refused if a single character of it changed', async () => {
    const thought = (await caller.complete(ENABLED)).content[0]!;
    const invalid = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    const { signature } = thought;
    const flipped = `${signature![0] === 'A' ? 'B' : 'A'}${signature!.slice(1)}`;
    for (const changed of [
      { thinking: `${thought.thinking} ` },
      { signature: flipped },
      { signature: signature!.replace(/=*$/, '') },
      { signature: '' },
    ]) {
      expect(await rejection(again([{ ...thought, ...changed }]))).toBe(invalid);
    }
    expect(await rejection(again([{ ...thought, signature: undefined }]))).toBe(
      'messages.1.content.0.thinking.signature: Field required',
    );
    expect(await rejection(again([thought], { ...ENABLED, model: 'another-model' }))).toBe(invalid);
  });

  test('is refused if it was redacted and its data changed', async () => {
    const thought = (await caller.complete({ ...ENABLED, sim: { redactThinking: true } })).content[0]!;
    expect(await rejection(again([{ ...thought, data: `${thought.data}A` }]))).toBe(
      'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
    );
    const shown = (await caller.complete(ENABLED)).content[0]!;
    expect(await rejection(again([{ type: 'redacted_thinking', data: shown.signature }]))).toMatch(/Invalid `data`/);
  });

  test('may not be left out of a tool loop with a budget', async () => {
    expect(await rejection(again([]))).toMatch(
      /^messages\.1\.content\.0\.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
    );
    expect((await caller.complete(again([], ADAPTIVE))).content).not.toEqual([]);
    expect((await caller.complete(again([], {}))).content).not.toEqual([]);
  });
});

describe('what thinking forbids', () => {
  test.each<[string, Json, RegExp]>([
    [
      'a budget for an adaptive model',
      { ...ENABLED, model: 'x-adaptive' },
      /"thinking\.type\.enabled" is not supported/,
    ],
    ['a budget as large as the limit', { ...ENABLED, max_tokens: 1024 }, /`max_tokens` must be greater than/],
    ['a budget too small', { thinking: { type: 'enabled', budget_tokens: 1023 } }, /greater than or equal to 1024/],
    ['no budget', { thinking: { type: 'enabled' } }, /budget_tokens: Field required/],
    ['an unknown kind', { thinking: { type: 'deep' } }, /^thinking: Input tag/],
    ['an unknown effort', { output_config: { effort: 'minimal' } }, /^output_config\.effort/],
    ['a temperature', { ...ENABLED, temperature: 0.5 }, /`temperature` may only be set to 1/],
    ['top_k', { ...ENABLED, top_k: 5 }, /`top_k` must be unset/],
    ['sampling of an adaptive model', { model: 'x-adaptive', top_p: 0.9 }, /`top_p` is deprecated/],
    ['a forced tool', { ...ENABLED, tools: TOOLS, tool_choice: { type: 'any' } }, /tool_choice forces tool use/],
    [
      'a prefilled answer of an adaptive model',
      { model: 'x-adaptive', messages: [...ASK.messages, { role: 'assistant', content: 'So' }] },
      /assistant message prefill/,
    ],
  ])('%s', async (_, more, message) => {
    expect(await rejection(more)).toMatch(message);
  });
});
