import Anthropic from '@anthropic-ai/sdk';
import { choice, noul, score, TypeSafeClient } from '@typesafe-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { TRANSPORTS } from './transports.ts';

/** The vendors' own clients, unmodified, on each of their wires, through the whole gateway. */

let harness: Harness;
let openai: OpenAI;
let anthropic: Anthropic;

const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };

describe.each(TRANSPORTS)('over the %s transport', (transport) => {
  beforeAll(async () => {
    harness = await startHarness({ transport });
    openai = harness.openai();
    anthropic = new Anthropic({ baseURL: harness.url, apiKey: 'not needed' });
  });

  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  describe('openai', () => {
    test('completions, whole and streamed', async () => {
      const whole = await openai.completions.create({ model: 'sim-gpt', prompt: 'Hello', max_tokens: 50 });
      expect(whole.choices[0]!.text).toContain('simulated');
      let text = '';
      let tokens = 0;
      const stream = await openai.completions.create({
        model: 'sim-claude',
        prompt: 'Hello',
        max_tokens: 50,
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const chunk of stream) {
        text += chunk.choices[0]?.text ?? '';
        tokens = chunk.usage?.completion_tokens ?? tokens;
      }
      expect(text).toContain('simulated');
      expect(tokens).toBeGreaterThan(0);
    });

    test('embeddings: the SDK asks for base64 by itself and gives numbers; a reduced vector has length one', async () => {
      const { data } = await openai.embeddings.create({ model: 'sim-embed', input: ['one', 'two'], dimensions: 16 });
      expect(data.map(({ index }) => index)).toEqual([0, 1]);
      for (const { embedding } of data) {
        expect(embedding).toHaveLength(16);
        expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
      }
    });

    test.each(['sim-responses', 'sim-gpt', 'sim-claude'])(
      'responses of %s: a loop of two parallel calls with sealed thoughts, by the stream helper',
      async (model) => {
        const tools = ['weather', 'clock'].map((name) => ({
          type: 'function' as const,
          name,
          parameters,
          strict: false,
        }));
        const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
        const reasoning = { effort: 'low' as const };
        const ask = { model, store: false, tools, reasoning, include, max_output_tokens: 8000 };
        const first = await openai.responses.stream({ ...ask, input: 'Call weather and call clock.' }).finalResponse();
        const calls = first.output.filter((item) => item.type === 'function_call');
        expect(calls.map(({ name }) => name)).toEqual(['weather', 'clock']);
        const results = calls.map(({ call_id, name }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: `${name} is fine`,
        }));
        const second = await openai.responses.create({
          ...ask,
          input: [
            { role: 'user', content: 'Call weather and call clock.' },
            ...(first.output as OpenAI.Responses.ResponseInputItem[]),
            ...results,
          ],
        });
        expect(second.output_text).toContain('weather is fine');
        expect(second.output_text).toContain('clock is fine');
      },
    );
  });

  describe('@anthropic-ai/sdk', () => {
    const tools = ['weather', 'clock'].map((name) => ({
      name,
      input_schema: { ...parameters, type: 'object' as const },
    }));
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };

    test('messages: a loop of two parallel calls, thoughts and signatures intact, by the stream helper', async () => {
      const ask = { model: 'sim-claude', max_tokens: 4000, tools, thinking };
      const first = await anthropic.messages
        .stream({ ...ask, messages: [{ role: 'user', content: 'Call weather and call clock.' }] })
        .finalMessage();
      expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use', 'tool_use']);
      const results = first.content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: `${block.name} is fine` }]
          : [],
      );
      const second = await anthropic.messages.create({
        ...ask,
        messages: [
          { role: 'user', content: 'Call weather and call clock.' },
          { role: 'assistant', content: first.content as Anthropic.ContentBlockParam[] },
          { role: 'user', content: results },
        ],
      });
      const text = second.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      expect(text).toContain('weather is fine');
      expect(text).toContain('clock is fine');
    });

    test('the iterator lives with the receipt event, which comes last', async () => {
      const types: string[] = [];
      const stream = await anthropic.messages.create({
        model: 'sim-claude',
        max_tokens: 100,
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      for await (const event of stream) types.push(event.type);
      expect(types.slice(-2)).toEqual(['message_stop', 'gateway_receipt']);
    });

    test('countTokens costs nothing and agrees with the usage; models list and retrieve', async () => {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      const { input_tokens } = await anthropic.messages.countTokens({ model: 'sim-claude', messages });
      const { usage } = await anthropic.messages.create({ model: 'sim-claude', max_tokens: 9, messages });
      expect(input_tokens).toBe(usage.input_tokens);
      const ids = (await anthropic.models.list()).data.map(({ id }) => id);
      expect(ids).toContain('sim-claude');
      expect(await anthropic.models.retrieve('sim-claude')).toMatchObject({ id: 'sim-claude', type: 'model' });
    });

    test('errors are its own typed exceptions', async () => {
      const ask = { model: 'sim-gpt', max_tokens: 5, messages: [{ role: 'user' as const, content: 'Hi' }] };
      await expect(anthropic.messages.create(ask)).rejects.toBeInstanceOf(Anthropic.BadRequestError);
      await expect(anthropic.messages.create({ ...ask, model: 'nobody' })).rejects.toBeInstanceOf(
        Anthropic.NotFoundError,
      );
    });
  });

  test('@typesafe-ai/sdk: noul, choice and score', async () => {
    const client = new TypeSafeClient({ baseURL: harness.url, apiKey: 'not needed', defaultModel: 'sim-decide' });
    const { answers, usage } = await client.systemOne({
      state: { ticket: 'I was charged twice.' },
      questions: {
        urgent: noul('Is it urgent?'),
        about: choice('What is it about?', { billing: null, other: null }),
        mood: score('How angry?', ['calm', 'cross', 'furious']),
      },
    });
    expect(answers.urgent.noul).toBeGreaterThanOrEqual(0);
    expect(['billing', 'other']).toContain(answers.about.choice);
    expect(answers.mood.score).toBeLessThanOrEqual(2);
    expect(usage.input_tokens).toBeGreaterThan(0);
  });
});
