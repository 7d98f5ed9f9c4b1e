import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dataOf, type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { parseJson } from '../../../json/json.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { countTokens } from '../../tokens.ts';

interface Message {
  id: string;
  content: { type: string; text?: string; thinking?: string; signature?: string; data?: string; input?: unknown }[];
  stop_reason: string;
  stop_sequence: string | null;
  stop_details: Json | null;
  usage: { input_tokens: number; output_tokens: number; output_tokens_details?: { thinking_tokens: number } };
}

const QUESTION = 'How are you?';
const ASK = { model: 'sim-claude', max_tokens: 4096, messages: [{ role: 'user', content: QUESTION }] };
const TOOLS_ASKED = { messages: [{ role: 'user', content: 'Use get_time, then call ping.' }] };
const TOOLS = [
  { name: 'get_time', input_schema: { type: 'object', properties: { zone: { enum: ['UTC'] } } } },
  { name: 'ping', input_schema: { type: 'object', properties: {} } },
];

let sim: Sim;
let caller: SimCaller<Message>;

beforeAll(async () => {
  sim = await startSim();
  caller = new SimCaller(sim, '/v1/messages', ASK, { 'anthropic-version': '2023-06-01', 'x-api-key': 'k' });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

describe('a buffered message', () => {
  test('has the vendor’s members', async () => {
    const message = await caller.complete();
    const text = message.content[0]!.text!;
    expect(message).toEqual({
      model: 'sim-claude',
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: expect.stringContaining(`simulated answer to: "${QUESTION}"`) }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 4 + countTokens(QUESTION),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: countTokens(text),
        service_tier: 'standard',
        inference_geo: 'not_available',
      },
    });
  });

  test('comes with headers of the vendor’s own, and tolerates ?beta=true', async () => {
    const answer = await caller.send();
    expect(answer.headers).toMatchObject({
      'request-id': expect.stringMatching(/^req_/),
      'anthropic-ratelimit-requests-limit': '4000',
    });
    const beta = new SimCaller<Message>(sim, '/v1/messages?beta=true', ASK, { 'anthropic-version': '2023-06-01' });
    expect((await beta.complete()).stop_reason).toBe('end_turn');
  });
});

describe('why an answer ends', () => {
  test('is said in the vendor’s words', async () => {
    expect(await caller.complete({ max_tokens: 5 })).toMatchObject({
      stop_reason: 'max_tokens',
      usage: { output_tokens: 5 },
    });
    expect(await caller.complete({ stop_sequences: ['nowhere', 'No model'] })).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'No model',
    });
    expect(await caller.complete({ ...TOOLS_ASKED, tools: TOOLS })).toMatchObject({ stop_reason: 'tool_use' });
    expect(await caller.complete({ sim: { finish: 'pause_turn' } })).toMatchObject({ stop_reason: 'pause_turn' });
  });

  test('can be the window', async () => {
    const content = 'word '.repeat(8180).trimEnd();
    const full = await caller.complete({ model: 'x-small', messages: [{ role: 'user', content }] });
    expect(full).toMatchObject({ stop_reason: 'model_context_window_exceeded', usage: { output_tokens: 8 } });
    const over = await caller.refusal({
      model: 'x-small',
      messages: [{ role: 'user', content: `${content}!`.repeat(2) }],
    });
    expect(over).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^prompt is too long: \d+ tokens > 8192 maximum$/) } },
    });
  });

  test('can be a refusal, whose words stand beside the reason', async () => {
    const message = await caller.complete({ sim: { refusal: 'not this' } });
    expect(message).toMatchObject({
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', explanation: 'not this' },
      usage: { output_tokens: 2 },
    });
    const [end] = dataOf(await caller.stream({ sim: { refusal: 'not this' } })).slice(-2);
    expect(end).toMatchObject({ delta: { stop_reason: 'refusal' }, usage: { output_tokens: 2 } });
  });
});

describe('a stream', () => {
  test('names every event as its data does, pads it, and pings early', async () => {
    const events = await caller.stream();
    expect(events.map((event) => event.name)).toEqual(dataOf(events).map((data) => data.type));
    expect(events.slice(0, 3).map((event) => event.name)).toEqual(['message_start', 'content_block_start', 'ping']);
    expect(events.some((event) => / {2,}}$/.test(event.data))).toBe(true);
    expect(events.at(-1)!.name).toBe('message_stop');
  });

  test('begins with a whole message and usage nobody should bill, and ends with the totals', async () => {
    const events = dataOf(await caller.stream());
    expect(events[0]).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: 8, output_tokens: 1 } },
    });
    const { usage } = await caller.complete();
    expect(events.at(-2)).toMatchObject({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens },
    });
  });

  test('gives arguments in fragments, the first empty; a call without arguments has no other', async () => {
    const events = dataOf(await caller.stream({ ...TOOLS_ASKED, tools: TOOLS }));
    const fragments = (index: number) =>
      events
        .filter((event) => event.type === 'content_block_delta' && event.index === index)
        .map((event) => (event.delta as { partial_json: string }).partial_json);
    expect(fragments(0)[0]).toBe('');
    expect(parseJson(fragments(0).join(''))).toEqual({ zone: 'UTC' });
    expect(fragments(1)).toEqual(['']);
    const openings = events.filter((event) => event.type === 'content_block_start');
    expect(openings).toMatchObject([
      { index: 0, content_block: { type: 'tool_use', name: 'get_time', input: {} } },
      { index: 1, content_block: { type: 'tool_use', name: 'ping', input: {} } },
    ]);
  });

  test('under any limit says as much as the message does', async () => {
    const shapes: Json[] = [
      {},
      { ...TOOLS_ASKED, tools: TOOLS },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      { ...TOOLS_ASKED, thinking: { type: 'adaptive' }, tools: TOOLS, sim: { redactThinking: true } },
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...shapes), fc.integer({ min: 1, max: 80 }), async (shape, max_tokens) => {
        const { usage, stop_reason } = await caller.complete({ ...shape, max_tokens });
        expect(usage.output_tokens).toBeLessThanOrEqual(max_tokens);
        if (stop_reason === 'max_tokens') expect(usage.output_tokens).toBe(max_tokens);
        const events = dataOf(await caller.stream({ ...shape, max_tokens }));
        expect(events.at(-2)).toMatchObject({ delta: { stop_reason }, usage: { output_tokens: usage.output_tokens } });
        expect(usage.output_tokens_details?.thinking_tokens ?? 0).toBeLessThanOrEqual(usage.output_tokens);
        const blocks = events.filter((event) => event.type === 'content_block_start').map((event) => event.index);
        expect(blocks).toEqual(blocks.map((_, index) => index));
      }),
      { numRuns: 50 },
    );
  });
});

describe('a turn of tool results', () => {
  const call = { type: 'tool_use', id: 't1', name: 'get_time', input: {} };
  const loop = (results: unknown[]) => ({
    tools: TOOLS,
    messages: [...ASK.messages, { role: 'assistant', content: [call] }, { role: 'user', content: results }],
  });

  test('is answered in text that quotes them, failures too', async () => {
    const content = [{ type: 'text', text: 'noon' }];
    const told = await caller.complete(loop([{ type: 'tool_result', tool_use_id: 't1', content }]));
    expect(told.content[0]!.text).toContain('get_time said "noon"');
    const failed = await caller.complete(
      loop([{ type: 'tool_result', tool_use_id: 't1', content: 'no clock', is_error: true }]),
    );
    expect(failed.content[0]!.text).toContain('get_time said "error: no clock"');
  });

  test('may be spread over several messages of the user', async () => {
    const second = { ...call, id: 't2' };
    const messages = [
      ...ASK.messages,
      { role: 'assistant', content: [call, second] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'one' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: 'two' }] },
    ];
    const told = await caller.complete({ tools: TOOLS, messages });
    expect(told.content[0]!.text).toContain('get_time said "one", get_time said "two"');
  });

  test('must answer every call, and no other', async () => {
    const missing = await caller.refusal({ ...loop([{ type: 'text', text: 'well?' }]) });
    expect(missing.body).toMatchObject({ error: { message: expect.stringContaining('without `tool_result` blocks') } });
    const stranger = await caller.refusal(
      loop(['t1', 't9'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }))),
    );
    expect(stranger.body).toMatchObject({ error: { message: expect.stringContaining('unexpected `tool_use_id`') } });
  });
});
