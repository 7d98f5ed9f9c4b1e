import { createAnthropic } from '@ai-sdk/anthropic';
import { createAzure } from '@ai-sdk/azure';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  embedMany,
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { TRANSPORTS } from './transports.ts';

/** The AI SDK, unmodified, with every provider people point at a gateway; only base URL and key differ. */

let harness: Harness;
const models: Record<string, () => LanguageModel> = {};

const NAMES = [
  'openai (responses) to a chat model',
  'openai (responses) to a messages model',
  'openai (responses) to a responses model',
  'openai (chat) to a chat model',
  'openai (chat) to a messages model',
  'openai (chat) to a responses model',
  'openai-compatible to a chat model',
  'openai-compatible to a messages model',
  'anthropic to a messages model',
  'azure (responses) to a chat model',
  'azure (chat) to a chat model',
];

/** Providers are told that nothing is stored here; they use reasoning, so that encrypted reasoning and signatures must survive the loop. */
const providerOptions = {
  openai: { store: false, reasoningEffort: 'low', forceReasoning: true },
  azure: { store: false },
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
};
/** This provider's chat model drops reasoning between turns, and the messages vendor requires it in a tool loop. */
const FORGETFUL = 'openai (chat) to a messages model';

function optionsFor(name: string): typeof providerOptions | Pick<typeof providerOptions, 'azure'> {
  return name === FORGETFUL ? { azure: providerOptions.azure } : providerOptions;
}

const place = jsonSchema<{ place: string }>({
  type: 'object',
  properties: { place: { type: 'string' } },
  required: ['place'],
  additionalProperties: false,
});
const tools = {
  weather: tool({ description: 'The weather at a place', inputSchema: place, execute: async () => 'sunny' }),
  clock: tool({ description: 'The time at a place', inputSchema: place, execute: async () => 'noon' }),
};

describe.each(TRANSPORTS)('over the %s transport', (transport) => {
  beforeAll(async () => {
    harness = await startHarness({ transport });
    const settings = { baseURL: `${harness.url}/v1`, apiKey: 'not needed' };
    const openai = createOpenAI(settings);
    const compatible = createOpenAICompatible({ name: 'tollgate', ...settings });
    const anthropic = createAnthropic({ ...settings, headers: { 'x-gateway-receipt-event': 'none' } });
    const azure = createAzure(settings);
    Object.assign(models, {
      'openai (responses) to a chat model': () => openai('sim-gpt'),
      'openai (responses) to a messages model': () => openai('sim-claude'),
      'openai (responses) to a responses model': () => openai('sim-responses'),
      'openai (chat) to a chat model': () => openai.chat('sim-gpt'),
      'openai (chat) to a messages model': () => openai.chat('sim-claude'),
      'openai (chat) to a responses model': () => openai.chat('sim-responses'),
      'openai-compatible to a chat model': () => compatible('sim-gpt'),
      'openai-compatible to a messages model': () => compatible('sim-claude'),
      'anthropic to a messages model': () => anthropic('sim-claude'),
      'azure (responses) to a chat model': () => azure('sim-gpt'),
      'azure (chat) to a chat model': () => azure.chat('sim-gpt'),
    });
  });

  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  describe.each(NAMES)('%s', (name) => {
    test('generateText does a loop of two parallel tool calls', async () => {
      const answer = await generateText({
        model: models[name]!(),
        prompt: 'Call weather and call clock.',
        tools,
        stopWhen: stepCountIs(3),
        providerOptions: optionsFor(name),
      });
      expect(answer.steps).toHaveLength(2);
      expect(answer.steps[0]!.toolCalls.map(({ toolName }) => toolName)).toEqual(['weather', 'clock']);
      expect(answer.text).toContain('sunny');
      expect(answer.text).toContain('noon');
      expect(answer.usage.inputTokens).toBeGreaterThan(0);
      expect(answer.usage.outputTokens).toBeGreaterThan(0);
    });

    test('streamText does the same loop without a single error', async () => {
      const errors: unknown[] = [];
      const answer = streamText({
        model: models[name]!(),
        prompt: 'Call weather and call clock.',
        tools,
        stopWhen: stepCountIs(3),
        providerOptions: optionsFor(name),
        onError: ({ error }) => void errors.push(error),
      });
      await answer.consumeStream();
      expect(errors).toEqual([]);
      expect(await answer.steps).toHaveLength(2);
      expect(await answer.text).toContain('sunny');
    });
  });

  /** The compatible provider asks for plain JSON and puts the schema into the prompt, which a simulated model does not read. */
  describe.each(NAMES.filter((name) => !name.startsWith('openai-compatible')))('%s', (name) => {
    test('generateObject gets an object of the schema', async () => {
      // With thinking, the anthropic provider offers a tool of this name and may not force it.
      const prompt = 'Call json.';
      const { object } = await generateObject({ model: models[name]!(), prompt, schema: place, providerOptions });
      expect(object).toEqual({ place: expect.any(String) });
    });
  });

  test('embedMany keeps the order of its values', async () => {
    const model = createOpenAI({ baseURL: `${harness.url}/v1`, apiKey: 'x' }).embedding('sim-embed');
    const { embeddings } = await embedMany({ model, values: ['one', 'two'] });
    const { embeddings: reversed } = await embedMany({ model, values: ['two', 'one'] });
    expect(embeddings).toHaveLength(2);
    expect(reversed).toEqual(embeddings.toReversed());
  });

  test('the anthropic provider reports the receipt event as an error part unless it was switched off, and goes on', async () => {
    const provider = createAnthropic({ baseURL: `${harness.url}/v1`, apiKey: 'x' });
    const errors: unknown[] = [];
    const answer = streamText({
      model: provider('sim-claude'),
      prompt: 'Hi',
      onError: ({ error }) => void errors.push(error),
    });
    await answer.consumeStream();
    expect(await answer.text).toContain('simulated');
    expect(errors.map(String).join()).toContain('gateway_receipt');
  });
});
