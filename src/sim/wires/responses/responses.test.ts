import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dataOf, type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { ManualClock } from '../../../kit/clock.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { countTokens } from '../../tokens.ts';

interface Item {
  id: string;
  type: string;
  status?: string;
  summary?: { text: string }[];
  encrypted_content?: string;
  content?: { text: string }[];
}

interface Response {
  id: string;
  status: string;
  output: Item[];
  usage: { output_tokens: number; output_tokens_details: { reasoning_tokens: number } };
}

const QUESTION = 'How are you?';
const ASK = { model: 'sim-responses', input: QUESTION };
const TOOLS = [
  { type: 'function', name: 'look', parameters: { type: 'object', properties: { at: { enum: ['sky'] } } } },
  { type: 'function', name: 'wait', description: 'waits', parameters: null, strict: false },
];

let sim: Sim;
let caller: SimCaller<Response>;

beforeAll(async () => {
  sim = await startSim({ clock: new ManualClock(1_800_000_000_000) });
  caller = new SimCaller(sim, '/v1/responses', ASK);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

describe('a whole response', () => {
  test('has every member, null where there is nothing to say', async () => {
    const response = await caller.complete();
    const text = response.output[0]!.content![0]!.text;
    expect(response).toEqual({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      created_at: 1_800_000_000,
      completed_at: 1_800_000_000,
      status: 'completed',
      background: false,
      error: null,
      frequency_penalty: 0,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      model: 'sim-responses',
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [
            { type: 'output_text', annotations: [], logprobs: [], text: expect.stringContaining(`"${QUESTION}"`) },
          ],
        },
      ],
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: 'none', summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      user: null,
      metadata: {},
      usage: {
        input_tokens: 4 + countTokens(QUESTION),
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: countTokens(text),
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 4 + countTokens(QUESTION) + countTokens(text),
      },
    });
  });

  test('repeats what was asked; a tool that does not say is strict', async () => {
    const asked = { instructions: 'Be brief.', store: false, metadata: { a: 'b' }, max_output_tokens: 500, top_p: 0.5 };
    expect(await caller.complete({ ...asked, tools: TOOLS, tool_choice: 'required' })).toMatchObject({
      ...asked,
      tools: [
        { ...TOOLS[0], description: null, strict: true },
        { ...TOOLS[1], strict: false },
      ],
      output: [
        { type: 'function_call', name: 'look', arguments: '{"at":"sky"}', call_id: expect.stringMatching(/^call_/) },
        { type: 'function_call', name: 'wait', arguments: '{}', id: expect.stringMatching(/^fc_/) },
      ],
    });
  });

  test('remembers long prompts', async () => {
    const input = 'rule '.repeat(1500);
    const details = [];
    for (const _ of [1, 2])
      details.push(((await caller.complete({ input })).usage as unknown as Json).input_tokens_details);
    expect(details).toEqual([
      { cached_tokens: 0, cache_write_tokens: 1408 },
      { cached_tokens: 1408, cache_write_tokens: 0 },
    ]);
  });
});

describe('reasoning', () => {
  const effort = { reasoning: { effort: 'medium' } };
  const sealed = { include: ['reasoning.encrypted_content'] };

  test('is an item of its own: shown if a summary is asked for, sealed if that is', async () => {
    const bare = await caller.complete(effort);
    expect(bare.output[0]).toEqual({ id: expect.stringMatching(/^rs_/), type: 'reasoning', summary: [] });
    expect(bare.usage.output_tokens_details.reasoning_tokens).toBe(32);
    const told = await caller.complete({ ...sealed, reasoning: { effort: 'medium', summary: 'auto' } });
    expect(told.output[0]).toMatchObject({
      summary: [{ type: 'summary_text', text: expect.any(String) }],
      encrypted_content: expect.any(String),
    });
  });

  test('comes back untouched or not at all', async () => {
    const first = await caller.complete({ ...effort, ...sealed, tools: TOOLS, tool_choice: 'required', store: false });
    const [thought, ...calls] = first.output;
    const outputs = calls.map((call) => ({
      type: 'function_call_output',
      call_id: (call as unknown as Json).call_id,
      output: 'x',
    }));
    const again = (item: Json, more: Json = {}) =>
      caller.refusal({
        ...effort,
        store: false,
        input: [{ role: 'user', content: 'x' }, item, ...calls, ...outputs],
        ...more,
      });
    const { id: _, ...unnamed } = thought!;
    expect((await again(unnamed as unknown as Json)).status).toBe(200);
    const changed = `${thought!.encrypted_content!.slice(0, -4)}AAAA`;
    expect(await again({ ...thought, encrypted_content: changed })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_encrypted_content', message: expect.stringContaining('could not be verified') } },
    });
    expect((await again({ ...thought }, { model: 'another' })).status).toBe(400);
    expect(await again({ ...thought, encrypted_content: null })).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('Items are not persisted') } },
    });
    expect((await again({ ...thought, encrypted_content: null }, { store: true })).status).toBe(200);
  });

  test('without what followed it is refused', async () => {
    const [thought] = (await caller.complete({ ...effort, ...sealed })).output;
    const user = { role: 'user', content: 'x' };
    for (const input of [
      [user, thought],
      [user, thought, user],
    ]) {
      expect(await caller.refusal({ input })).toMatchObject({
        status: 400,
        body: {
          error: {
            param: 'input',
            message: `Item '${thought!.id}' of type 'reasoning' was provided without its required following item.`,
          },
        },
      });
    }
    expect((await caller.refusal({ input: [user, thought, { role: 'assistant', content: 'y' }, user] })).status).toBe(
      200,
    );
  });
});

describe('a stream', () => {
  const SHAPES: Json[] = [
    {},
    { tools: TOOLS, tool_choice: 'required' },
    { reasoning: { effort: 'low', summary: 'auto' } },
    {
      reasoning: { effort: 'low' },
      tools: TOOLS,
      tool_choice: 'required',
      include: ['reasoning.encrypted_content'],
    },
    { sim: { refusal: 'I would rather not say.' } },
  ];

  test('numbers its events from 0, names them as their data does, and begins and ends with the response', async () => {
    for (const shape of SHAPES) {
      const events = await caller.stream(shape);
      const data = dataOf(events);
      expect(events.map((event) => event.name)).toEqual(data.map((one) => one.type));
      expect(data.map((one) => one.sequence_number)).toEqual(data.map((_, index) => index));
      expect(data.slice(0, 2)).toMatchObject([
        { type: 'response.created', response: { status: 'in_progress', output: [], usage: null } },
        { type: 'response.in_progress', response: { status: 'in_progress' } },
      ]);
      expect(data.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    }
  });

  test('opens and closes every item and part under one id', async () => {
    const reasoning = { effort: 'low', summary: 'auto' };
    const events = dataOf(await caller.stream({ reasoning, tools: TOOLS, tool_choice: 'required' }));
    const steps = events.map((event) => String(event.type)).filter((type, index, all) => type !== all[index - 1]);
    const call = ['function_call_arguments.delta', 'function_call_arguments.done'];
    const summary = ['part.added', 'text.delta', 'text.done', 'part.done'].map((name) => `reasoning_summary_${name}`);
    expect(steps.slice(2, -1)).toEqual(
      [
        ...['output_item.added', ...summary, 'output_item.done'],
        ...['output_item.added', ...call, 'output_item.done'],
        ...['output_item.added', ...call, 'output_item.done'],
      ].map((name) => `response.${name}`),
    );
    const { response } = events.at(-1) as { response: Response };
    for (const [index, item] of response.output.entries()) {
      const own = events.filter((event) => event.output_index === index);
      const ids = own.map((event) => event.item_id ?? (event.item as Item).id);
      expect(new Set(ids)).toEqual(new Set([item.id]));
    }
    expect(events.find((event) => event.type === 'response.function_call_arguments.done')).toMatchObject({
      name: 'look',
      arguments: '{"at":"sky"}',
    });
  });

  test('pads its deltas unless told not to', async () => {
    const padded = dataOf(await caller.stream()).filter((event) => 'obfuscation' in event);
    expect(padded.length).toBeGreaterThan(3);
    expect(padded.every((event) => event.type === 'response.output_text.delta')).toBe(true);
    const bare = dataOf(await caller.stream({ stream_options: { include_obfuscation: false } }));
    expect(bare.some((event) => 'obfuscation' in event)).toBe(false);
  });

  test('encrypts the same reasoning differently each time it writes it', async () => {
    const events = dataOf(await caller.stream(SHAPES[3]));
    const seals = events.flatMap((event) => {
      const items = [event.item as Item | undefined, ...((event.response as Response | undefined)?.output ?? [])];
      return items.map((item) => item?.encrypted_content).filter((seal) => seal !== undefined);
    });
    expect(seals).toHaveLength(3);
    expect(new Set(seals).size).toBe(3);
  });

  test('under any limit says as much as the whole response does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...SHAPES), fc.integer({ min: 16, max: 60 }), async (shape, limit) => {
        const asked = { ...shape, max_output_tokens: limit };
        const whole = await caller.complete(asked);
        expect(whole.usage.output_tokens).toBeLessThanOrEqual(limit);
        if (whole.status === 'incomplete') expect(whole.usage.output_tokens).toBe(limit);
        const last = dataOf(await caller.stream(asked)).at(-1) as { type: string; response: Response };
        expect(last.type).toBe(`response.${whole.status}`);
        expect(last.response.usage).toEqual(whole.usage);
        expect(last.response.output.map((item) => [item.type, item.status])).toEqual(
          whole.output.map((item) => [item.type, item.status]),
        );
      }),
      { numRuns: 40 },
    );
  });
});
