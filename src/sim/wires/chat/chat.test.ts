import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ASK, type Completion, SimChat, TIME, WEATHER } from '../../../../test/sim-chat.ts';
import { ManualClock } from '../../../kit/clock.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { countTokens } from '../../tokens.ts';

let sim: Sim;
let chat: SimChat;

beforeAll(async () => {
  sim = await startSim({ clock: new ManualClock(1_800_000_000_000) });
  chat = new SimChat(sim);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

function outputTokensOf({ message }: Completion['choices'][number]): number {
  const calls = message.tool_calls ?? [];
  const callTokens = calls.reduce((sum, call) => sum + 1 + countTokens(call.function.arguments), 0);
  return countTokens(message.content ?? '') + countTokens(message.reasoning_content ?? '') + callTokens;
}

describe('a buffered answer', () => {
  test('has the vendor’s members, says that it is simulated, and quotes what was asked', async () => {
    const answer = await chat.complete();
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
    const [first, second] = [await chat.complete(), await chat.complete()];
    expect(second.id).not.toBe(first.id);
    expect({ ...second, id: '' }).toEqual({ ...first, id: '' });
  });

  test('echoes any model and quotes no more than a line of a long prompt', async () => {
    const answer = await chat.complete({
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
    const answer = await chat.complete({
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
  test('max_tokens and max_completion_tokens cut at exactly this many tokens, the newer name winning', async () => {
    for (const limit of [{ max_tokens: 7 }, { max_completion_tokens: 7, max_tokens: 30 }]) {
      const answer = await chat.complete(limit);
      expect(answer.choices[0]!.finish_reason).toBe('length');
      expect(answer.usage.completion_tokens).toBe(7);
      expect(outputTokensOf(answer.choices[0]!)).toBe(7);
    }
  });

  test('any limit holds for text, thoughts and tool calls, buffered and streamed alike', async () => {
    const shapes = [
      {},
      { reasoning_effort: 'low' },
      { tools: [WEATHER, TIME], tool_choice: 'required' },
      { tools: [WEATHER], tool_choice: 'required', reasoning_effort: 'minimal' },
      { n: 2 },
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...shapes), fc.integer({ min: 1, max: 60 }), async (shape, limit) => {
        const answer = await chat.complete({ ...shape, max_tokens: limit });
        const spoken = answer.choices.map(outputTokensOf);
        expect(answer.usage.completion_tokens).toBe(spoken.reduce((sum, tokens) => sum + tokens, 0));
        for (const [index, choice] of answer.choices.entries()) {
          expect(spoken[index]).toBeLessThanOrEqual(limit);
          if (choice.finish_reason === 'length') expect(spoken[index]).toBe(limit);
        }
        const chunks = await chat.stream({ ...shape, max_tokens: limit, stream_options: { include_usage: true } });
        expect(chunks.at(-1)!.usage).toEqual(answer.usage);
      }),
      { numRuns: 60 },
    );
  });

  test('stop ends the text before the word, and counts only what was said', async () => {
    const answer = await chat.complete({ stop: ['No model', 'simulated upstream'] });
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    expect(answer.choices[0]!.message.content).toMatch(/"\. $/);
    expect(answer.usage.completion_tokens).toBe(outputTokensOf(answer.choices[0]!));
  });

  test('a prompt over the window is refused with the counts; one that just fits leaves no room', async () => {
    const content = `${'word '.repeat(8188)}`.trimEnd();
    const fits = await chat.complete({ model: 'x-small', messages: [{ role: 'user', content }] });
    expect(fits.usage).toMatchObject({ prompt_tokens: 8192, completion_tokens: 0 });
    const messages = [{ role: 'user', content: content.slice('word '.length) }];
    const almost = await chat.complete({ model: 'x-small', messages, max_tokens: 9 });
    expect(almost.usage).toMatchObject({ prompt_tokens: 8191, completion_tokens: 1 });
    const { status, error } = await chat.refusal({
      model: 'x-small',
      messages: [{ role: 'user', content: `${content} more` }],
    });
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 'context_length_exceeded', type: 'invalid_request_error', param: 'messages' });
    expect(error.message).toMatch(/8192 tokens.*8193 tokens/);
    await chat.complete({ messages: [{ role: 'user', content: `${content} more` }] });
  });
});

describe('a repeated prompt', () => {
  test('is written to the cache first and read from it then', async () => {
    const messages = [{ role: 'system', content: 'rule '.repeat(2000) }, ...ASK.messages];
    const details = [];
    for (const _ of [1, 2]) details.push((await chat.complete({ messages })).usage.prompt_tokens_details);
    expect(details).toMatchObject([
      { cached_tokens: 0, cache_write_tokens: 1920 },
      { cached_tokens: 1920, cache_write_tokens: 0 },
    ]);
  });
});

describe('reasoning', () => {
  test('gives a trace whose tokens are part of the completion', async () => {
    const answer = await chat.complete({ reasoning_effort: 'medium' });
    const trace = answer.choices[0]!.message.reasoning_content!;
    expect(countTokens(trace)).toBe(32);
    expect(answer.usage.completion_tokens_details.reasoning_tokens).toBe(32);
    expect(answer.usage.completion_tokens).toBe(outputTokensOf(answer.choices[0]!));
    const none = await chat.complete({ reasoning_effort: 'none' });
    expect(none.choices[0]!.message).not.toHaveProperty('reasoning_content');
    const chunks = await chat.stream({ reasoning_effort: 'medium' });
    expect(chunks.map((chunk) => chunk.choices[0]!.delta.reasoning_content ?? '').join('')).toBe(trace);
  });

  test('may use up the whole limit', async () => {
    const answer = await chat.complete({ reasoning_effort: 'max', max_completion_tokens: 10 });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } });
    expect(answer.usage.completion_tokens_details.reasoning_tokens).toBe(10);
  });
});

describe('a streamed answer', () => {
  test('says the same as the buffered one, role first, finish last, one id', async () => {
    const buffered = await chat.complete({ n: 2 });
    const chunks = await chat.stream({ n: 2 });
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

  test('carries usage only if asked: once, without choices, and no null before it', async () => {
    expect((await chat.stream()).every((chunk) => !('usage' in chunk) && chunk.choices.length === 1)).toBe(true);
    const chunks = await chat.stream({ stream_options: { include_usage: true } });
    const last = chunks.pop()!;
    expect(chunks.some((chunk) => 'usage' in chunk || 'system_fingerprint' in chunk)).toBe(false);
    expect(last.choices).toEqual([]);
    expect(last.usage).toEqual((await chat.complete()).usage);
  });
});
