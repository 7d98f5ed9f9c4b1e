import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimScript, startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

type Response = OpenAI.Responses.Response;

let sim: Sim;
let client: OpenAI;

beforeAll(async () => {
  sim = await startSim();
  client = new OpenAI({ baseURL: `${sim.url}/v1`, apiKey: 'sk-none', maxRetries: 0 });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

const ASK = { model: 'sim-responses', input: 'How are you?' };
const THINK = {
  reasoning: { effort: 'low' as const, summary: 'auto' as const },
  include: ['reasoning.encrypted_content' as const],
  store: false,
};
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function' as const,
  name,
  strict: false,
  parameters: { type: 'object', properties: { place: { type: 'string' } } },
}));

/** Without ids, seals and what the stream helper adds. */
function stable({ output, status, usage, output_text: text }: Response) {
  return { types: output.map((item) => item.type), status, usage, text };
}

function callsIn(response: Response) {
  return response.output.filter((item) => item.type === 'function_call');
}

describe('the official SDK on the responses wire, unmodified', () => {
  test('creates, and folds a stream into the same response', async () => {
    const response = await client.responses.create(ASK);
    expect(response.output_text).toContain('simulated answer to: "How are you?"');
    const folded = await client.responses.stream(ASK).finalResponse();
    expect(stable(folded as unknown as Response)).toEqual(stable(response));
  });

  test.each([true, false])(
    'runs a tool loop of two parallel calls with sealed thoughts (streamed: %s)',
    async (streamed) => {
      const send = async (input: OpenAI.Responses.ResponseInput): Promise<Response> => {
        const body = { ...ASK, ...THINK, tools: TOOLS, input };
        if (!streamed) return client.responses.create(body);
        return (await client.responses.stream(body).finalResponse()) as unknown as Response;
      };
      const question: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Ask get_weather and get_time.' }];
      const first = await send(question);
      expect(first.output.map((item) => item.type)).toEqual(['reasoning', 'function_call', 'function_call']);
      const outputs = callsIn(first).map(({ call_id, name }) => ({
        type: 'function_call_output' as const,
        call_id,
        output: `result of ${name}`,
      }));
      const second = await send([...question, ...(first.output as OpenAI.Responses.ResponseInput), ...outputs]);
      expect(second.output_text).toContain(
        'get_weather said "result of get_weather", get_time said "result of get_time"',
      );
    },
  );

  test('parses a structured answer', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } };
    const response = await client.responses.parse({
      ...ASK,
      text: { format: { type: 'json_schema', name: 'person', schema } },
    });
    expect(response.output_parsed).toEqual({ name: 'sample' });
  });

  test('reads a refusal and an incomplete answer', async () => {
    const refused = await client.responses.stream({ ...ASK, ...{ sim: { refusal: 'not this' } } }).finalResponse();
    expect(refused.output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: 'not this' }] }]);
    const cut = await client.responses.stream({ ...ASK, max_output_tokens: 16 }).finalResponse();
    expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  });

  test.each([
    [400, OpenAI.BadRequestError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('turns %i into its typed exception', async (status, kind) => {
    sim.script({ status });
    await expect(client.responses.create(ASK)).rejects.toThrow(kind);
  });

  test.each<[string, SimScript]>([
    ['an error in the stream', { errorAfterChunks: 4 }],
    ['a cut', { cutAtByte: 3000 }],
  ])('throws on %s', async (_, script) => {
    sim.script(script);
    await expect(client.responses.stream(ASK).finalResponse()).rejects.toThrow();
  });

  test.each<SimScript>([
    { splitBytes: 7, commentEvery: 1, crlf: true },
    { omitEventNames: true },
    { addDone: true },
    { omitFinish: true },
  ])('accepts a stream with %j', async (script) => {
    const whole = await client.responses.create(ASK);
    sim.script(script);
    const folded = await client.responses.stream(ASK).finalResponse();
    expect(stable(folded as unknown as Response)).toEqual(stable(whole));
  });
});
