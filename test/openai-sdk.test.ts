import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countsOf, priceCounts, readComponents } from './catalog-price.ts';
import { type Harness, startHarness } from './harness.ts';
import { RELAY_SETTINGS } from './transports.ts';

let harness: Harness;
let client: OpenAI;

const ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'hello there' }] };
/** Long enough for the host's prompt cache. */
const LONG_ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'word '.repeat(1500) }] };
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { place: { type: 'string' } } } },
}));
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface BilledUsage extends OpenAI.CompletionUsage {
  readonly cost?: number;
  readonly cost_nanousd?: number;
}

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error: unknown = await call.then(String, (thrown: unknown) => thrown);
  if (!(error instanceof APIError)) throw new Error(`Not an APIError: ${String(error)}`);
  return error;
}

describe.each(RELAY_SETTINGS)('over the $transport transport, frame memory $frameMemory', (settings) => {
  beforeAll(async () => {
    harness = await startHarness({ transport: settings.transport, config: { frameMemory: settings.frameMemory } });
    client = harness.openai('unused');
  });
  beforeEach(() => harness.sim.reset());
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  describe('answers', () => {
    test('create gives the answer, a receipt in its headers and its cost in the usage', async () => {
      const { data, response, request_id } = await client.chat.completions.create(ASK).withResponse();
      expect(data.choices[0]!.message.content).toContain('simulated answer to: "hello there"');
      expect(data.model).toBe('sim-gpt');
      const { headers } = response;
      const id = headers.get('x-gateway-request-id')!;
      expect(id).toMatch(/^req_/);
      expect([headers.get('request-id'), headers.get('x-request-id'), request_id]).toEqual([id, id, id]);
      expect(headers.get('x-gateway-requested-model')).toBe('sim-gpt');
      expect(headers.get('x-gateway-effective-model')).toBe('sim-gpt');
      const usage = data.usage as BilledUsage;
      const cost = BigInt(headers.get('x-gateway-cost-nanousd')!);
      expect(cost).toBeGreaterThan(0n);
      expect(BigInt(usage.cost_nanousd!)).toBe(cost);
      expect(usage.cost).toBe(Number(cost) / 1e9);
      const components = readComponents(headers.get('x-gateway-cost-components-nanousd'));
      expect(Object.values(components).reduce((sum, one) => sum + one)).toBe(cost);
    });

    test('what the host says about itself stays here', async () => {
      const { response } = await client.chat.completions.create(ASK).withResponse();
      const names = [...response.headers.keys()];
      expect(names.filter((name) => name.startsWith('x-ratelimit') || name.startsWith('openai-'))).toEqual([]);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(response.headers.get('set-cookie')).toBeNull();
    });

    test('the cost is the usage priced from the catalog, cached tokens at their own rates', async () => {
      const entry = await harness.catalogEntry('sim-gpt');
      for (const cached of [false, true]) {
        const { data, response } = await client.chat.completions.create(LONG_ASK).withResponse();
        const counts = countsOf(data.usage!);
        expect(counts[cached ? 'cacheRead' : 'cacheWrite']).toBeGreaterThan(1000);
        const priced = priceCounts(entry.pricing, counts);
        expect(BigInt(response.headers.get('x-gateway-cost-nanousd')!)).toBe(priced.total);
        const { total: _, ...components } = priced;
        expect(readComponents(response.headers.get('x-gateway-cost-components-nanousd'))).toEqual(components);
      }
    });

    test('the receipt reads back by its id and says the same', async () => {
      const { data, response } = await client.chat.completions.create({ ...ASK, user: 'someone' }).withResponse();
      const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!);
      expect(receipt).toMatchObject({
        object: 'receipt',
        status: 'settled',
        http_status: 200,
        ended: 'complete',
        usage_source: 'reported',
        route: '/v1/chat/completions',
        requested_model: 'sim-gpt',
        effective_model: 'sim-gpt',
        cost_nanousd: (data.usage as BilledUsage).cost_nanousd,
        usage: { fresh_tokens: data.usage!.prompt_tokens, output_tokens: data.usage!.completion_tokens },
        labels: { user: 'someone' },
        key: null,
      });
      expect(receipt.price_version).toBe(harness.running.catalog.priceVersion);
      expect(Object.values(receipt.components!).reduce((sum, one) => sum + one)).toBe(receipt.cost_nanousd);
      expect(receipt.held_nanousd).toBeGreaterThanOrEqual(receipt.cost_nanousd!);
      expect(Object.keys(receipt)).not.toContain('host');
    });

    test('a namespaced id answers as the catalog id', async () => {
      const { data, response } = await client.chat.completions
        .create({ ...ASK, model: 'somewhere/sim-gpt' })
        .withResponse();
      expect(data.model).toBe('sim-gpt');
      expect(response.headers.get('x-gateway-requested-model')).toBe('somewhere/sim-gpt');
      expect(response.headers.get('x-gateway-effective-model')).toBe('sim-gpt');
    });

    test("the output limit that leaves is 4096 when none was given, and the caller's own otherwise", async () => {
      await client.chat.completions.create(ASK);
      await client.chat.completions.create({ ...ASK, max_tokens: 7 });
      await client.chat.completions.create({ ...ASK, max_completion_tokens: 9 });
      const limits = harness.sim.calls.map((call) => JSON.parse(call.body));
      expect(limits.map((body) => body.max_completion_tokens)).toEqual([4096, 7, 9]);
      expect(limits.map((body) => body.max_tokens)).toEqual([undefined, undefined, undefined]);
    });

    test("images by data URL are priced by the catalog's bound, not by their bytes", async () => {
      const content = [
        { type: 'text' as const, text: 'what is this?' },
        { type: 'image_url' as const, image_url: { url: PIXEL } },
      ];
      const answer = await client.chat.completions.create({ ...ASK, messages: [{ role: 'user', content }] });
      expect(answer.usage!.prompt_tokens).toBeGreaterThanOrEqual(85);
      expect(JSON.parse(harness.sim.calls[0]!.body).messages[0].content[1].image_url.url).toBe(PIXEL);
    });

    test('structured answers parse', async () => {
      const schema = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } };
      const answer = await client.chat.completions.parse({
        ...ASK,
        response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
      });
      expect(answer.choices[0]!.message.parsed).toEqual({ name: 'sample', age: 1 });
    });

    test('reasoning stands under both names, buffered and streamed', async () => {
      const ask = { ...ASK, reasoning_effort: 'low' as const };
      const { message } = (await client.chat.completions.create(ask)).choices[0]!;
      const whole = message as typeof message & { reasoning?: string; reasoning_content?: string };
      expect(whole.reasoning).toBeTruthy();
      expect(whole.reasoning_content).toBe(whole.reasoning);
      const streamed = { reasoning: '', reasoning_content: '' };
      for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
        const delta = chunk.choices[0]?.delta as Partial<typeof streamed> | undefined;
        streamed.reasoning += delta?.reasoning ?? '';
        streamed.reasoning_content += delta?.reasoning_content ?? '';
      }
      expect(streamed).toEqual({ reasoning: whole.reasoning, reasoning_content: whole.reasoning });
    });
  });

  describe('streams', () => {
    test('give the same text, without a usage chunk unless asked', async () => {
      const whole = await client.chat.completions.create(ASK);
      const stream = await client.chat.completions.create({ ...ASK, stream: true });
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
      expect(text).toBe(whole.choices[0]!.message.content);
      expect(chunks.filter((chunk) => chunk.usage != null)).toEqual([]);
      expect(chunks.every((chunk) => chunk.choices.length === 1)).toBe(true);
      expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.model} ${chunk.created} ${chunk.object}`)).size).toBe(
        1,
      );
      expect(chunks.filter((chunk) => chunk.choices[0]!.finish_reason !== null)).toHaveLength(1);
    });

    test("carry the billed usage in one last chunk when asked, without a cost; the catalog gives the receipt's cost", async () => {
      const { data: stream, response } = await client.chat.completions
        .create({ ...LONG_ASK, stream: true, stream_options: { include_usage: true } })
        .withResponse();
      expect(response.headers.get('x-gateway-cost-nanousd')).toBeNull();
      expect(response.headers.get('x-gateway-cost-components-nanousd')).toBeNull();
      expect(response.headers.get('x-gateway-effective-model')).toBe('sim-gpt');
      const id = response.headers.get('x-gateway-request-id')!;
      expect([response.headers.get('request-id'), response.headers.get('x-request-id')]).toEqual([id, id]);
      const usages: BilledUsage[] = [];
      for await (const chunk of stream) if (chunk.usage != null) usages.push(chunk.usage);
      expect(usages).toHaveLength(1);
      expect(usages[0]).not.toHaveProperty('cost');
      expect(usages[0]).not.toHaveProperty('cost_nanousd');
      const { pricing } = await harness.catalogEntry('sim-gpt');
      const receipt = await harness.receipt(id);
      expect(receipt).toMatchObject({ ended: 'complete', usage_source: 'reported', http_status: 200 });
      expect(BigInt(receipt.cost_nanousd!)).toBe(priceCounts(pricing, countsOf(usages[0]!)).total);
    });

    test("an aggregator's `usage: {include: true}` asks for the usage chunk too", async () => {
      const ask = { ...ASK, stream: true as const, usage: { include: true } };
      const usages: unknown[] = [];
      for await (const chunk of await client.chat.completions.create(ask)) if (chunk.usage != null) usages.push(chunk);
      expect(usages).toHaveLength(1);
      expect(JSON.parse(harness.sim.calls[0]!.body).usage).toBeUndefined();
    });

    test('the stream helper folds text, tools and usage', async () => {
      const options = { stream_options: { include_usage: true } };
      const whole = await client.chat.completions.create({ ...ASK, n: 2 });
      const folded = await client.chat.completions.stream({ ...ASK, ...options, n: 2 }).finalChatCompletion();
      expect(folded.choices.map((choice) => choice.message.content)).toEqual(
        whole.choices.map((choice) => choice.message.content),
      );
      const { cost: _, cost_nanousd: __, ...usage } = whole.usage as BilledUsage;
      expect(folded.usage).toEqual(usage);
      const withTools = await client.chat.completions
        .stream({ ...ASK, ...options, tools: TOOLS, tool_choice: 'required' })
        .finalChatCompletion();
      expect(withTools.choices[0]!.finish_reason).toBe('tool_calls');
      const calls = withTools.choices[0]!.message.tool_calls!;
      expect(new Set(calls.map((call) => call.id)).size).toBe(2);
      expect(calls.map((call) => (call.type === 'function' ? call.function : null))).toMatchObject([
        { name: 'get_weather', arguments: '{"place":"sample"}' },
        { name: 'get_time', arguments: '{"place":"sample"}' },
      ]);
    });

    test('odd pieces, comments and CR LF of the host do not show', async () => {
      const whole = await client.chat.completions.create(ASK);
      harness.sim.script({ splitBytes: 3, commentEvery: 1, crlf: true });
      expect(await textOf(await client.chat.completions.create({ ...ASK, stream: true }))).toBe(
        whole.choices[0]!.message.content,
      );
    });
  });

  describe('tools', () => {
    test('two parallel calls, and the whole loop to an answer from both results', async () => {
      const runner = client.chat.completions.runTools({
        ...ASK,
        messages: [{ role: 'user', content: 'Ask get_weather and get_time.' }],
        tools: TOOLS.map(({ type, function: { name, parameters } }) => ({
          type,
          function: { name, parameters, description: 'a test tool', function: () => `result of ${name}` },
        })),
      });
      const said = 'get_weather said "result of get_weather", get_time said "result of get_time"';
      expect(await runner.finalContent()).toContain(said);
      expect(harness.sim.received()).toBe(2);
    });
  });

  describe('models', () => {
    test('list and retrieve, also by a namespaced id', async () => {
      const ids: string[] = [];
      for await (const model of client.models.list()) ids.push(model.id);
      expect(ids).toEqual(expect.arrayContaining(['sim-gpt', 'sim-gpt-mini']));
      expect(await client.models.retrieve('sim-gpt')).toMatchObject({ id: 'sim-gpt', object: 'model' });
      expect(await client.models.retrieve('vendor/sim-gpt')).toMatchObject({ id: 'sim-gpt' });
      const missing = await failureOf(client.models.retrieve('vendor/no-such'));
      expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
      expect(missing).toMatchObject({ code: 'model_not_found', param: 'model' });
    });
  });

  describe('errors are typed exceptions', () => {
    test('a bad request names its field', async () => {
      const error = await failureOf(
        client.chat.completions.create({ ...ASK, temperature: 'hot' as unknown as number }),
      );
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error).toMatchObject({ code: 'invalid_value', type: 'invalid_request_error', param: 'temperature' });
      expect(error.requestID).toMatch(/^req_/);
      expect(error.headers!.get('x-gateway-cost-nanousd')).toBe('0');
      expect(error.headers!.get('x-gateway-requested-model')).toBe('sim-gpt');
      expect(error.headers!.get('x-should-retry')).toBe('false');
    });

    test('an unknown model is not found', async () => {
      const error = await failureOf(client.chat.completions.create({ ...ASK, model: 'no-such-model' }));
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error', param: 'model' });
      expect(error.headers!.get('x-gateway-requested-model')).toBe('no-such-model');
      expect(error.headers!.get('x-gateway-effective-model')).toBeNull();
    });

    test('a refused feature names its field', async () => {
      const error = await failureOf(
        client.chat.completions.create({ ...ASK, provider: { order: ['a'] } } as unknown as typeof ASK),
      );
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error).toMatchObject({ code: 'unsupported_feature', param: 'provider' });
      expect(harness.sim.received()).toBe(0);
    });

    test.each([
      [400, OpenAI.BadRequestError, 'upstream_error', 'invalid_value'],
      [401, OpenAI.InternalServerError, 'upstream_error', 'host_failed'],
      [404, OpenAI.InternalServerError, 'upstream_error', 'host_failed'],
      [429, OpenAI.RateLimitError, 'rate_limit_error', 'rate_limit_exceeded'],
      [500, OpenAI.InternalServerError, 'upstream_error', 'host_failed'],
      [503, OpenAI.InternalServerError, 'upstream_error', 'overloaded'],
    ])('a host that answers %i, buffered and streamed', async (status, kind, type, code) => {
      harness.sim.script({ status });
      const once = client.withOptions({ maxRetries: 0 });
      for (const stream of [false, true]) {
        const error = await failureOf(once.chat.completions.create({ ...ASK, stream }));
        expect(error).toBeInstanceOf(kind);
        expect(error).toMatchObject({ type, code });
        expect(error.requestID).toMatch(/^req_/);
        expect(error.headers!.get('x-gateway-cost-nanousd')).toBe('0');
        expect(error.headers!.get('retry-after')).toBe(status === 429 || status === 503 ? '1' : null);
        expect(await harness.receipt(error.requestID!)).toMatchObject({ ended: 'failed', cost_nanousd: 0 });
      }
    });

    test('a failing host is asked again by the SDK, and one answer is charged', async () => {
      harness.sim.script({ status: 500 }, { times: 1 });
      const { response } = await client
        .withOptions({ maxRetries: 1 })
        .chat.completions.create(ASK, { headers: { 'x-test': '1' } })
        .withResponse();
      expect(response.status).toBe(200);
      expect(harness.sim.received()).toBe(2);
    });

    test.each<[string, { errorAfterChunks: number } | { cutAtByte: number }]>([
      ['an error in the stream', { errorAfterChunks: 3 }],
      ['a cut', { cutAtByte: 900 }],
    ])('%s is thrown by the iterator', async (_, script) => {
      harness.sim.script(script);
      const stream = await client.chat.completions.create({ ...ASK, stream: true });
      const error = await failureOf(textOf(stream));
      expect(error).toMatchObject({ type: 'upstream_error', code: 'host_failed' });
    });
  });

  describe('a ceiling', () => {
    const withCeiling = (nanousd: bigint | number) => ({
      headers: { 'x-gateway-max-cost-nanousd': String(nanousd) },
    });

    test.each([
      ['plain', {}],
      ['three answers', { n: 3 }],
      ['streamed', { stream: true }],
      ['the older name of the limit', { max_tokens: 5000 }],
      ['the newer name of the limit', { max_completion_tokens: 5000 }],
    ])('that is too low is a 402 which names the largest limit that fits, exactly: %s', async (_, more) => {
      const ceiling = 4_321_987n;
      const error = await failureOf(
        client.chat.completions.create({ ...ASK, ...more } as typeof ASK, withCeiling(ceiling)),
      );
      expect(error.status).toBe(402);
      expect(error).toMatchObject({ type: 'cost_ceiling_exceeded', code: 'cost_ceiling_exceeded' });
      expect(error.requestID).toMatch(/^req_/);
      expect(error.headers!.get('x-should-retry')).toBe('false');
      expect(error.headers!.get('x-gateway-cost-nanousd')).toBe('0');
      expect(error.headers!.get('x-gateway-effective-model')).toBe('sim-gpt');
      expect(harness.sim.calls).toHaveLength(0);
      const [, field, limit] = /largest (\w+) that would fit is (\d+)/.exec(error.message)!;
      expect(field).toBe('max_completion_tokens' in more ? 'max_completion_tokens' : 'max_tokens');
      const asked = { ...ASK, ...more, stream: false, max_tokens: undefined, max_completion_tokens: undefined };
      const fits = { ...asked, [field!]: Number(limit) } as unknown as typeof ASK;
      const { response } = await client.chat.completions.create(fits, withCeiling(ceiling)).withResponse();
      expect(response.status).toBe(200);
      const over = { ...asked, [field!]: Number(limit) + 1 } as unknown as typeof ASK;
      expect((await failureOf(client.chat.completions.create(over, withCeiling(ceiling)))).status).toBe(402);
      expect(harness.sim.received()).toBe(1);
    });

    test('is met exactly by a worst case that equals it: by bytes, and below that by counted tokens', async () => {
      const under = (ceiling: number) =>
        client.chat.completions.create({ ...ASK, max_tokens: 100 }, withCeiling(ceiling));
      const heldUnder = async (ceiling: number): Promise<number> =>
        (await harness.receipt((await under(ceiling).withResponse()).request_id!)).held_nanousd;
      const byBytes = await heldUnder(1_000_000_000);
      const counted = await heldUnder(byBytes - 1);
      expect([await heldUnder(byBytes), await heldUnder(counted)]).toEqual([byBytes, counted]);
      expect((await failureOf(under(counted - 1))).status).toBe(402);
    });

    test('that nothing can fit says so', async () => {
      const error = await failureOf(client.chat.completions.create(ASK, withCeiling(0)));
      expect(error.status).toBe(402);
      expect(error.message).toContain('Shorten the prompt, or raise the ceiling');
    });

    test('that is not a number is refused by its name', async () => {
      const headers = { 'x-gateway-max-cost-nanousd': '1.5' };
      const error = await failureOf(client.chat.completions.create(ASK, { headers }));
      expect(error).toMatchObject({ status: 400, code: 'invalid_header', param: 'x-gateway-max-cost-nanousd' });
      expect(harness.sim.calls).toHaveLength(0);
    });
  });
});
