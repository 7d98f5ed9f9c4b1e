import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callRaw, eventsOf } from '../../../../test/raw-client.ts';
import { ManualClock } from '../../../kit/clock.ts';
import { parseJson } from '../../../kit/json.ts';
import { type Sim, startSim } from '../../sim.ts';
import { countTokens } from '../../tokens.ts';

type Json = Record<string, unknown>;

interface Completion {
  id: string;
  model: string;
  created: number;
  choices: {
    index: number;
    message: {
      content: string | null;
      reasoning_content?: string;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string;
    logprobs: unknown;
  }[];
  usage: Usage;
}

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

interface Chunk {
  id: string;
  object: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string | null; reasoning_content?: string; tool_calls?: Fragment[] };
    finish_reason: string | null;
  }[];
  usage?: Usage | null;
}

interface Fragment {
  index: number;
  id?: string;
  function: { name?: string; arguments: string };
}

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'How are you?' }] };
const WEATHER = tool('get_weather', { city: { type: 'string' }, days: { type: 'integer', minimum: 3 } });
const CLOCK_TOOL = tool('get_time', { zone: { enum: ['UTC', 'CET'] } });

function tool(name: string, properties: Json) {
  return { type: 'function', function: { name, parameters: { type: 'object', properties } } };
}

let sim: Sim;
const clock = new ManualClock(1_800_000_000_000);

beforeAll(async () => {
  sim = await startSim({ clock });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

async function complete(more: Json = {}): Promise<Completion> {
  const answer = await callRaw(`${sim.url}/v1/chat/completions`, { ...ASK, ...more });
  expect(answer.status, answer.text).toBe(200);
  return parseJson(answer.text) as Completion;
}

async function stream(more: Json = {}): Promise<Chunk[]> {
  const answer = await callRaw(`${sim.url}/v1/chat/completions`, { ...ASK, stream: true, ...more });
  expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const events = eventsOf(answer.text);
  expect(events.pop()).toBe('[DONE]');
  return events.map((event) => parseJson(event) as Chunk);
}

async function refusal(more: Json): Promise<{ status: number; error: Json }> {
  const answer = await callRaw(`${sim.url}/v1/chat/completions`, { ...ASK, ...more });
  return { status: answer.status, error: (parseJson(answer.text) as { error: Json }).error };
}

function outputTokensOf({ message }: Completion['choices'][number]): number {
  const calls = message.tool_calls ?? [];
  const callTokens = calls.reduce((sum, call) => sum + 1 + countTokens(call.function.arguments), 0);
  return countTokens(message.content ?? '') + countTokens(message.reasoning_content ?? '') + callTokens;
}

describe('a buffered answer', () => {
  test('has the vendor’s members, says that it is simulated, and quotes what was asked', async () => {
    const answer = await complete();
    expect(answer).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: 1_800_000_000,
      model: 'sim-gpt',
      service_tier: 'default',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: expect.stringContaining('simulated answer to: "How are you?"'),
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 4 + 4,
        completion_tokens: outputTokensOf(answer.choices[0]!),
        total_tokens: 8 + answer.usage.completion_tokens,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    });
  });

  test('is the same for the same request, but for its id', async () => {
    const [first, second] = [await complete(), await complete()];
    expect(second.id).not.toBe(first.id);
    expect({ ...second, id: '' }).toEqual({ ...first, id: '' });
  });

  test('echoes any model and quotes no more than a line of a long prompt', async () => {
    const answer = await complete({
      model: 'any/thing',
      messages: [{ role: 'user', content: '😀 word '.repeat(5000) }],
    });
    expect(answer.model).toBe('any/thing');
    expect(answer.choices[0]!.message.content!.length).toBeLessThan(300);
    expect(answer.choices[0]!.message.content!.isWellFormed()).toBe(true);
  });

  test('counts messages, parts, images, tool calls, tools and the schema of the format', async () => {
    const declared = JSON.stringify(WEATHER.function);
    const messages = [
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    ];
    const schema = { type: 'object', properties: {} };
    const answer = await complete({
      messages,
      tools: [WEATHER],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    });
    const texts = ['be brief', 'look', 'get_weather', '{}', 'sunny', declared, JSON.stringify(schema)];
    const expected = texts.reduce((sum, text) => sum + countTokens(text), 4 * 4 + 85 + 8);
    expect(answer.usage.prompt_tokens).toBe(expected);
  });
});

describe('limits', () => {
  test('max_tokens and max_completion_tokens cut at exactly so many tokens, the newer name winning', async () => {
    for (const limit of [{ max_tokens: 7 }, { max_completion_tokens: 7, max_tokens: 30 }]) {
      const answer = await complete(limit);
      expect(answer.choices[0]!.finish_reason).toBe('length');
      expect(answer.usage.completion_tokens).toBe(7);
      expect(outputTokensOf(answer.choices[0]!)).toBe(7);
    }
  });

  test('any limit holds for text, thoughts and tool calls, buffered and streamed alike', async () => {
    const shapes = [
      {},
      { reasoning_effort: 'low' },
      { tools: [WEATHER, CLOCK_TOOL] },
      { tools: [WEATHER], reasoning_effort: 'minimal' },
      { n: 2 },
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...shapes), fc.integer({ min: 1, max: 60 }), async (shape, limit) => {
        const answer = await complete({ ...shape, max_tokens: limit });
        const spoken = answer.choices.map(outputTokensOf);
        expect(answer.usage.completion_tokens).toBe(spoken.reduce((sum, tokens) => sum + tokens, 0));
        for (const [index, choice] of answer.choices.entries()) {
          expect(spoken[index]).toBeLessThanOrEqual(limit);
          if (choice.finish_reason === 'length') expect(spoken[index]).toBe(limit);
        }
        const chunks = await stream({ ...shape, max_tokens: limit, stream_options: { include_usage: true } });
        expect(chunks.at(-1)!.usage).toEqual(answer.usage);
      }),
      { numRuns: 60 },
    );
  });

  test('stop ends the text before the word, and counts only what was said', async () => {
    const answer = await complete({ stop: ['No model', 'simulated upstream'] });
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    expect(answer.choices[0]!.message.content).toMatch(/"\. $/);
    expect(answer.usage.completion_tokens).toBe(outputTokensOf(answer.choices[0]!));
  });

  test('a prompt over the window is refused with the counts; one that just fits leaves no room', async () => {
    const content = `${'word '.repeat(8188)}`.trimEnd();
    const fits = await complete({ model: 'x-small', messages: [{ role: 'user', content }] });
    expect(fits.usage).toMatchObject({ prompt_tokens: 8192, completion_tokens: 0 });
    const messages = [{ role: 'user', content: content.slice('word '.length) }];
    const almost = await complete({ model: 'x-small', messages, max_tokens: 9 });
    expect(almost.usage).toMatchObject({ prompt_tokens: 8191, completion_tokens: 1 });
    const { status, error } = await refusal({
      model: 'x-small',
      messages: [{ role: 'user', content: `${content} more` }],
    });
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 'context_length_exceeded', type: 'invalid_request_error', param: 'messages' });
    expect(error.message).toMatch(/8192 tokens.*8193 tokens/);
    await complete({ messages: [{ role: 'user', content: `${content} more` }] });
  });
});

describe('a repeated prompt', () => {
  test('is written to the cache first and read from it then', async () => {
    const messages = [{ role: 'system', content: 'rule '.repeat(2000) }, ...ASK.messages];
    const details = [];
    for (const _ of [1, 2]) details.push((await complete({ messages })).usage.prompt_tokens_details);
    expect(details).toMatchObject([
      { cached_tokens: 0, cache_write_tokens: 1920 },
      { cached_tokens: 1920, cache_write_tokens: 0 },
    ]);
  });
});

describe('reasoning', () => {
  test('gives a trace whose tokens are part of the completion', async () => {
    const answer = await complete({ reasoning_effort: 'medium' });
    const trace = answer.choices[0]!.message.reasoning_content!;
    expect(countTokens(trace)).toBe(32);
    expect(answer.usage.completion_tokens_details.reasoning_tokens).toBe(32);
    expect(answer.usage.completion_tokens).toBe(outputTokensOf(answer.choices[0]!));
    const none = await complete({ reasoning_effort: 'none' });
    expect(none.choices[0]!.message).not.toHaveProperty('reasoning_content');
    const chunks = await stream({ reasoning_effort: 'medium' });
    expect(chunks.map((chunk) => chunk.choices[0]!.delta.reasoning_content ?? '').join('')).toBe(trace);
  });

  test('may use up the whole limit', async () => {
    const answer = await complete({ reasoning_effort: 'max', max_completion_tokens: 10 });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } });
    expect(answer.usage.completion_tokens_details.reasoning_tokens).toBe(10);
  });
});

describe('tools', () => {
  async function called(more: Json): Promise<string[]> {
    const answer = await complete({ tools: [WEATHER, CLOCK_TOOL, tool('third', {})], ...more });
    return (answer.choices[0]!.message.tool_calls ?? []).map((call) => call.function.name);
  }

  test('the first two are called in parallel, with arguments of the schema', async () => {
    const answer = await complete({ tools: [WEATHER, CLOCK_TOOL, tool('third', {})] });
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
    expect(await called({ parallel_tool_calls: false })).toEqual(['get_weather']);
    expect(await called({ tool_choice: 'none' })).toEqual([]);
    expect(await called({ tool_choice: { type: 'function', function: { name: 'third' } } })).toEqual(['third']);
    expect(await called({ messages: [{ role: 'system', content: 'x' }] })).toEqual([]);
    expect(await called({ messages: [{ role: 'system', content: 'x' }], tool_choice: 'required' })).toEqual([
      'get_weather',
      'get_time',
    ]);
    expect(
      (await refusal({ tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'other' } } })).error.param,
    ).toBe('tool_choice');
  });

  test('a tool result is answered in text that quotes it', async () => {
    const calls = [WEATHER, CLOCK_TOOL].map((one, index) => ({
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
    const answer = await complete({ tools: [WEATHER, CLOCK_TOOL], messages });
    expect(answer.choices[0]!.message.content).toContain('get_weather said "sunny", get_time said "noon"');
    expect((await refusal({ messages: [{ role: 'tool', tool_call_id: 'c9', content: 'x' }] })).status).toBe(400);
  });

  test('stream as fragments: id and name once, then pieces of the arguments', async () => {
    const chunks = await stream({ tools: [WEATHER, CLOCK_TOOL] });
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
    const typed = await complete({ response_format: { type: 'json_schema', json_schema: { name: 'w', schema } } });
    expect(parseJson(typed.choices[0]!.message.content!)).toEqual({ city: 'sample', days: 3 });
    const object = await complete({ response_format: { type: 'json_object' } });
    expect(parseJson(object.choices[0]!.message.content!)).toEqual({ simulated: true, answer_to: 'How are you?' });
  });

  test('logprobs come token by token when asked for', async () => {
    const answer = await complete({ logprobs: true, max_tokens: 2 });
    expect(answer.choices[0]!.logprobs).toMatchObject({
      content: [{ token: 'This', bytes: [84, 104, 105, 115] }, { token: ' is' }],
      refusal: null,
    });
  });
});

describe('a streamed answer', () => {
  test('says the same as the buffered one, role first, finish last, one id', async () => {
    const buffered = await complete({ n: 2 });
    const chunks = await stream({ n: 2 });
    for (const index of [0, 1]) {
      const own = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
      expect(own[0]!.delta).toEqual({ role: 'assistant', content: '', refusal: null });
      expect(own.map((choice) => choice.delta.content ?? '').join('')).toBe(buffered.choices[index]!.message.content);
      expect(own.map((choice) => choice.finish_reason).filter((reason) => reason !== null)).toEqual(['stop']);
      expect(own.at(-1)!.finish_reason).toBe('stop');
    }
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.object}`)).size).toBe(1);
    expect(chunks[0]!.choices[0]!.index).toBe(0);
    expect(chunks[1]!.choices[0]!.index).toBe(1);
  });

  test('carries usage only if asked: null everywhere, then once without choices', async () => {
    expect((await stream()).every((chunk) => !('usage' in chunk) && chunk.choices.length === 1)).toBe(true);
    const chunks = await stream({ stream_options: { include_usage: true } });
    const last = chunks.pop()!;
    expect(chunks.every((chunk) => chunk.usage === null)).toBe(true);
    expect(last.choices).toEqual([]);
    expect(last.usage).toEqual((await complete()).usage);
  });
});

describe('a malformed request', () => {
  test.each<[string, Json, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no messages', { messages: undefined }, 'messages'],
    ['empty messages', { messages: [] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
    ['a number for content', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0]'],
    ['a limit of zero', { max_tokens: 0 }, 'max_tokens'],
    ['a limit in words', { max_tokens: 'ten' }, 'max_tokens'],
    ['n of zero', { n: 0 }, 'n'],
    ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['an unknown effort', { reasoning_effort: 'heroic' }, 'reasoning_effort'],
    ['stream options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['a tool of another type', { tools: [{ type: 'web_search' }] }, 'tools[0]'],
    ['a format of another type', { response_format: { type: 'yaml' } }, 'response_format'],
  ])('with %s is refused naming the field', async (_, more, param) => {
    const { status, error } = await refusal(more);
    expect(status).toBe(400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
  });

  test('that is no JSON object is refused', async () => {
    for (const body of ['{', '[]', 'null', '']) {
      expect((await callRaw(`${sim.url}/v1/chat/completions`, body)).status).toBe(400);
    }
  });
});
