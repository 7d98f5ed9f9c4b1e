import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimScript, startSim } from './sim.ts';
import type { Sim } from './sim-handle.ts';

let sim: Sim;
let client: OpenAI;

beforeAll(async () => {
  sim = await startSim();
  client = new OpenAI({ baseURL: `${sim.url}/v1`, apiKey: 'sk-none', maxRetries: 0 });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

const ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'hello' }] };
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { place: { type: 'string' } } } },
}));

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

describe('the official SDK, unmodified', () => {
  test('creates, and streams the same text', async () => {
    const answer = await client.chat.completions.create(ASK);
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    expect(await textOf(stream)).toBe(answer.choices[0]!.message.content);
    expect(sim.calls[0]!.headers.authorization).toBe('Bearer sk-none');
  });

  test('folds a stream with its helper: text, parallel tools, usage', async () => {
    const options = { stream_options: { include_usage: true } };
    const plain = client.chat.completions.stream({ ...ASK, ...options, n: 2 });
    const folded = await plain.finalChatCompletion();
    const whole = await client.chat.completions.create({ ...ASK, n: 2 });
    expect(folded.choices.map((choice) => choice.message.content)).toEqual(
      whole.choices.map((choice) => choice.message.content),
    );
    expect(folded.usage).toEqual(whole.usage);
    const withTools = await client.chat.completions
      .stream({ ...ASK, ...options, tools: TOOLS, tool_choice: 'required' })
      .finalChatCompletion();
    expect(
      withTools.choices[0]!.message.tool_calls!.map((call) => (call.type === 'function' ? call.function : null)),
    ).toMatchObject([
      { name: 'get_weather', arguments: '{"place":"sample"}' },
      { name: 'get_time', arguments: '{"place":"sample"}' },
    ]);
  });

  test('runs a whole tool loop', async () => {
    const runner = client.chat.completions.runTools({
      ...ASK,
      messages: [{ role: 'user', content: 'Ask get_weather and get_time.' }],
      tools: TOOLS.map(({ type, function: { name, parameters } }) => ({
        type,
        function: { name, parameters, description: 'a test tool', function: () => `result of ${name}` },
      })),
    });
    expect(await runner.finalContent()).toContain('get_time said "result of get_time"');
  });

  test('parses a structured answer', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } };
    const answer = await client.chat.completions.parse({
      ...ASK,
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    });
    expect(answer.choices[0]!.message.parsed).toEqual({ name: 'sample', age: 1 });
  });

  test('accepts a stream in odd pieces, with comments and CR LF', async () => {
    const whole = await client.chat.completions.create(ASK);
    sim.script({ splitBytes: 3, commentEvery: 1, crlf: true });
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    expect(await textOf(stream)).toBe(whole.choices[0]!.message.content);
  });

  test('lists models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain('sim-gpt-mini');
    expect((await client.models.retrieve('any/model')).id).toBe('any/model');
  });

  test.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [404, OpenAI.NotFoundError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('turns %i into its typed exception', async (status, type) => {
    sim.script({ status });
    await expect(client.chat.completions.create(ASK)).rejects.toThrow(type);
  });

  test.each<[string, SimScript]>([
    ['an error in the stream', { errorAfterChunks: 2 }],
    ['a cut', { cutAtByte: 700 }],
  ])('throws on %s', async (_, script) => {
    sim.script(script);
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    await expect(textOf(stream)).rejects.toThrow();
  });

  test('asks again after a failure, and is recorded twice', async () => {
    sim.script({ status: 500, headers: { 'retry-after-ms': '1' } }, { times: 1 });
    const patient = client.withOptions({ maxRetries: 1 });
    expect((await patient.chat.completions.create(ASK)).model).toBe('sim-gpt');
    expect(sim.calls.map((call) => call.status)).toEqual([500, 200]);
  });
});
