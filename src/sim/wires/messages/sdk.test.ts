import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimScript, startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

let sim: Sim;
let client: Anthropic;

beforeAll(async () => {
  sim = await startSim();
  client = new Anthropic({ baseURL: sim.url, apiKey: 'sk-none', maxRetries: 0 });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

const ASK = {
  model: 'sim-claude',
  max_tokens: 4096,
  messages: [{ role: 'user' as const, content: 'How are you?' }],
};
const BUDGET = { type: 'enabled' as const, budget_tokens: 1024 };
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  name,
  input_schema: { type: 'object' as const, properties: { place: { type: 'string' } } },
}));

/** The stream helper adds a member of its own. */
function withoutId(message: Anthropic.Message) {
  const { id: _, parsed_output: __, ...rest } = message as Anthropic.Message & { parsed_output?: unknown };
  return rest;
}

function toolUses(message: Anthropic.Message): Anthropic.ToolUseBlock[] {
  return message.content.filter((block) => block.type === 'tool_use');
}

function resultsFor(message: Anthropic.Message): Anthropic.ToolResultBlockParam[] {
  return toolUses(message).map(({ id, name }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: `result of ${name}`,
  }));
}

async function kindsIn(stream: AsyncIterable<Anthropic.MessageStreamEvent>): Promise<string[]> {
  const kinds: string[] = [];
  for await (const event of stream) kinds.push(event.type);
  return kinds;
}

describe("the messages vendor's SDK, unmodified", () => {
  test('creates, and folds a stream into the same message', async () => {
    const message = await client.messages.create(ASK);
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn', model: 'sim-claude' });
    expect(message.content).toEqual([{ type: 'text', text: expect.stringContaining('"How are you?"') }]);
    const folded = await client.messages.stream(ASK).finalMessage();
    expect(withoutId(folded)).toEqual(withoutId(message));
    expect(sim.calls[0]!.headers).toMatchObject({
      authorization: 'Bearer sk-none',
      'anthropic-version': '2026-10-21',
    });
  });

  test('iterates the events in the vendor’s order', async () => {
    const stream = await client.messages.create({ ...ASK, stream: true, thinking: BUDGET });
    const kinds = await kindsIn(stream);
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
      'message_start',
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
  });

  test.each([true, false])(
    'runs a tool loop of two parallel calls with its thoughts (streamed: %s)',
    async (streamed) => {
      const question = { role: 'user' as const, content: 'Ask get_weather and get_time.' };
      const ask = { ...ASK, thinking: BUDGET, tools: TOOLS, messages: [question] };
      const send = (body: typeof ask) =>
        streamed ? client.messages.stream(body).finalMessage() : client.messages.create(body);
      const first = await send(ask);
      expect(first.stop_reason).toBe('tool_use');
      expect(first.content.map((block) => block.type)).toEqual(['thinking', 'tool_use', 'tool_use']);
      expect(toolUses(first).map((block) => block.input)).toEqual([{ place: 'sample' }, { place: 'sample' }]);
      const messages: Anthropic.MessageParam[] = [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: resultsFor(first) },
      ];
      const second = await send({ ...ask, messages: messages as typeof ask.messages });
      expect(second.content.at(-1)).toMatchObject({
        type: 'text',
        text: expect.stringContaining('get_weather said "result of get_weather", get_time said "result of get_time"'),
      });
    },
  );

  test('counts tokens as the call itself reports them', async () => {
    const { max_tokens: _, ...counted } = { ...ASK, system: 'Be brief.', tools: TOOLS };
    const { input_tokens } = await client.messages.countTokens(counted);
    const message = await client.messages.create({ ...counted, max_tokens: 10 });
    expect(input_tokens).toBe(message.usage.input_tokens);
  });

  test('lists models', async () => {
    const page = await client.models.list();
    expect(page.data[0]).toMatchObject({ type: 'model', id: 'sim-gpt', display_name: expect.any(String) });
    expect((await client.models.retrieve('sim-claude')).id).toBe('sim-claude');
  });

  test('parses a structured answer', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } };
    const message = await client.messages.create({
      ...ASK,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(message.content).toEqual([{ type: 'text', text: '{"name":"sample"}' }]);
  });

  test.each([
    [400, Anthropic.BadRequestError, 'invalid_request_error'],
    [401, Anthropic.AuthenticationError, 'authentication_error'],
    [404, Anthropic.NotFoundError, 'not_found_error'],
    [429, Anthropic.RateLimitError, 'rate_limit_error'],
    [500, Anthropic.InternalServerError, 'api_error'],
    [529, Anthropic.InternalServerError, 'overloaded_error'],
  ])('turns %i into its typed exception', async (status, kind, type) => {
    sim.script({ status });
    const error = await client.messages.create(ASK).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, type, requestID: expect.stringMatching(/^req_/) });
  });

  test.each<[string, SimScript]>([
    ['an error in the stream', { errorAfterChunks: 4 }],
    ['a cut', { cutAtByte: 900 }],
  ])('throws on %s', async (_, script) => {
    sim.script(script);
    await expect(client.messages.stream(ASK).finalMessage()).rejects.toThrow();
  });

  test('accepts a stream in odd pieces, with comments and CR LF', async () => {
    const whole = await client.messages.create(ASK);
    sim.script({ splitBytes: 3, commentEvery: 1, crlf: true });
    expect(withoutId(await client.messages.stream(ASK).finalMessage())).toEqual(withoutId(whole));
  });
});
