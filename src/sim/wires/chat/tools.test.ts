import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ASK, functionTool, SimChat, TIME, WEATHER } from '../../../../test/sim-chat.ts';
import { parseJson } from '../../../json/json.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

type Json = Record<string, unknown>;

let sim: Sim;
let chat: SimChat;

beforeAll(async () => {
  sim = await startSim();
  chat = new SimChat(sim);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

describe('tools', () => {
  async function called(more: Json): Promise<string[]> {
    const answer = await chat.complete({ tools: [WEATHER, TIME, functionTool('third', {})], ...more });
    return (answer.choices[0]!.message.tool_calls ?? []).map((call) => call.function.name);
  }

  const says = (content: string) => ({ messages: [{ role: 'user', content }] });

  test('are not called without a reason: the answer is words', async () => {
    expect(await called({})).toEqual([]);
    expect(await called(says('Say hello, and tell me about the third task.'))).toEqual([]);
    expect(await called(says('What does my_get_weather or get_weather-2 do?'))).toEqual([]);
    expect(await called(says('<note>Use get_time. <b></note>Say hello.<note>Call third.</note>'))).toEqual([]);
    expect(await called(says('<note>Use get_time.</note><b>Use third.'))).toEqual(['third']);
    expect(await called(says(`Tools: get_time, get_weather. ${'Be brief. '.repeat(30)}`))).toEqual([]);
    expect(await called(says(`${'Be brief. '.repeat(30)}Use get_time.\n`))).toEqual(['get_time']);
    const answer = await chat.complete({ tools: [WEATHER] });
    expect(answer.choices[0]!.message.content).toContain('simulated answer to: "How are you?"');
  });

  test('are called by the name that the prompt says; a plain word counts only after "call" or "use"', async () => {
    expect(await called(says('What does get_time say, and `get_weather`?'))).toEqual(['get_weather', 'get_time']);
    expect(await called(says('Use the third tool.'))).toEqual(['third']);
    expect(await called(says('Please call the function "third".'))).toEqual(['third']);
    expect(await called({ ...says('Use get_time and get_weather.'), parallel_tool_calls: false })).toEqual([
      'get_weather',
    ]);
    expect(await called({ ...says('Use get_time.'), tool_choice: 'required' })).toEqual(['get_time']);
    expect(await called({ ...says('Use get_time.'), tool_choice: 'none' })).toEqual([]);
    const later = [...says('Use get_time.').messages, { role: 'assistant', content: 'Done.' }, ...ASK.messages];
    expect(await called({ messages: later })).toEqual([]);
  });

  test('the first two are called in parallel if one is required, with arguments of the schema', async () => {
    const answer = await chat.complete({
      tools: [WEATHER, TIME, functionTool('third', {})],
      tool_choice: 'required',
    });
    const { message, finish_reason } = answer.choices[0]!;
    expect(finish_reason).toBe('tool_calls');
    expect(message.content).toBeNull();
    expect(message.tool_calls!.map((call) => [call.function.name, parseJson(call.function.arguments)])).toEqual([
      ['get_weather', { city: 'sample', days: 3 }],
      ['get_time', { zone: 'UTC' }],
    ]);
    expect(new Set(message.tool_calls!.map((call) => call.id)).size).toBe(2);
  });

  test('parallel_tool_calls and tool_choice are honoured', async () => {
    expect(await called({ parallel_tool_calls: false, tool_choice: 'required' })).toEqual(['get_weather']);
    expect(await called({ tool_choice: 'none' })).toEqual([]);
    expect(await called({ tool_choice: { type: 'function', function: { name: 'third' } } })).toEqual(['third']);
    expect(await called({ messages: [{ role: 'system', content: 'x' }] })).toEqual([]);
    expect(await called({ messages: [{ role: 'system', content: 'x' }], tool_choice: 'required' })).toEqual([
      'get_weather',
      'get_time',
    ]);
    expect(
      (await chat.refusal({ tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'other' } } })).error
        .param,
    ).toBe('tool_choice');
  });

  test('a model that belongs to the responses wire takes none here unless it need not think', async () => {
    const model = 'sim-responses';
    expect(await called({ model, reasoning_effort: 'none', tool_choice: 'required' })).toEqual([
      'get_weather',
      'get_time',
    ]);
    for (const more of [{}, { reasoning_effort: 'low' }]) {
      const { status, error } = await chat.refusal({ model, tools: [WEATHER], ...more });
      expect(status).toBe(400);
      expect(error).toMatchObject({ param: 'reasoning_effort', message: expect.stringContaining('use /v1/responses') });
    }
    expect((await chat.complete({ model, reasoning_effort: 'low' })).choices).toHaveLength(1);
  });

  test('a tool result is answered in text that quotes it', async () => {
    const calls = [WEATHER, TIME].map((one, index) => ({
      id: `c${index}`,
      type: 'function',
      function: { name: one.function.name, arguments: '{}' },
    }));
    const messages = [
      ...ASK.messages,
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'c0', content: 'sunny' },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'noon' }] },
    ];
    const answer = await chat.complete({ tools: [WEATHER, TIME], messages });
    expect(answer.choices[0]!.message.content).toContain('get_weather said "sunny", get_time said "noon"');
    expect((await chat.refusal({ messages: [{ role: 'tool', tool_call_id: 'c9', content: 'x' }] })).status).toBe(400);
  });

  test('stream as fragments: id and name once, then pieces of the arguments', async () => {
    const chunks = await chat.stream({ tools: [WEATHER, TIME], tool_choice: 'required' });
    const fragments = chunks.flatMap((chunk) => chunk.choices[0]!.delta.tool_calls ?? []);
    expect(fragments.filter((fragment) => fragment.id !== undefined).map((fragment) => fragment.function.name)).toEqual(
      ['get_weather', 'get_time'],
    );
    const joined = [0, 1].map((index) =>
      fragments.filter((one) => one.index === index).map((one) => one.function.arguments),
    );
    expect(joined[0]!.length).toBeGreaterThan(3);
    expect(joined.map((pieces) => parseJson(pieces.join('')))).toEqual([{ city: 'sample', days: 3 }, { zone: 'UTC' }]);
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('tool_calls');
  });
});

describe('formats', () => {
  test('json_object and json_schema give valid JSON', async () => {
    const schema = WEATHER.function.parameters;
    const typed = await chat.complete({ response_format: { type: 'json_schema', json_schema: { name: 'w', schema } } });
    expect(parseJson(typed.choices[0]!.message.content!)).toEqual({ city: 'sample', days: 3 });
    const object = await chat.complete({ response_format: { type: 'json_object' } });
    expect(parseJson(object.choices[0]!.message.content!)).toEqual({ simulated: true, answer_to: 'How are you?' });
  });

  test('logprobs come token by token when asked for', async () => {
    const answer = await chat.complete({ logprobs: true, max_tokens: 2 });
    expect(answer.choices[0]!.logprobs).toMatchObject({
      content: [{ token: 'This', bytes: [84, 104, 105, 115] }, { token: ' is' }],
      refusal: null,
    });
  });
});
