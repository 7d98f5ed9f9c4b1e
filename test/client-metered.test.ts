import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fetch, meteredFetch } from '../packages/client/src/index.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

/** `meteredFetch` under SDKs that know nothing about it: whatever they call, its sum equals the ledger's. */

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const messages = [{ role: 'user' as const, content: 'Hello' }];
type Use = (fetch: Fetch, apiKey: string) => Promise<unknown>;

async function readToEnd(stream: AsyncIterable<unknown>): Promise<void> {
  let events = 0;
  for await (const _ of stream) events += 1;
  expect(events).toBeGreaterThan(0);
}

const openai = (fetch: Fetch, apiKey: string) => new OpenAI({ baseURL: `${harness.url}/v1`, apiKey, fetch });
const anthropic = (fetch: Fetch, apiKey: string) => new Anthropic({ baseURL: harness.url, apiKey, fetch });
const chatOpenAI = (fetch: Fetch, apiKey: string, useResponsesApi: boolean) =>
  new ChatOpenAI({
    model: 'sim-gpt',
    apiKey,
    useResponsesApi,
    zdrEnabled: true,
    configuration: { baseURL: `${harness.url}/v1`, fetch },
  });
const chatAnthropic = (fetch: Fetch, apiKey: string) =>
  new ChatAnthropic({
    model: 'sim-claude',
    apiKey,
    anthropicApiUrl: harness.url,
    maxTokens: 100,
    clientOptions: { fetch },
  });

const aiSdk = {
  openai: (fetch: Fetch, apiKey: string) => createOpenAI({ baseURL: `${harness.url}/v1`, apiKey, fetch })('sim-gpt'),
  anthropic: (fetch: Fetch, apiKey: string) =>
    createAnthropic({ baseURL: `${harness.url}/v1`, apiKey, fetch })('sim-claude'),
};
const providerOptions = { openai: { store: false } };

async function streamWith(model: LanguageModel): Promise<void> {
  // Its provider for messages reports the receipt event as an error, and goes on.
  await streamText({ model, prompt: 'Hello', providerOptions, onError: () => {} }).consumeStream();
}

const USES: Readonly<Record<string, Use>> = {
  'openai, chat': (fetch, key) => openai(fetch, key).chat.completions.create({ model: 'sim-gpt', messages }),
  'openai, chat, streamed': async (fetch, key) =>
    readToEnd(await openai(fetch, key).chat.completions.create({ model: 'sim-gpt', messages, stream: true })),
  'openai, responses': (fetch, key) => openai(fetch, key).responses.create({ model: 'sim-responses', input: 'Hi' }),
  'openai, responses, streamed': async (fetch, key) =>
    readToEnd(await openai(fetch, key).responses.create({ model: 'sim-responses', input: 'Hi', stream: true })),
  'openai, embeddings': (fetch, key) => openai(fetch, key).embeddings.create({ model: 'sim-embed', input: 'Hi' }),
  anthropic: (fetch, key) => anthropic(fetch, key).messages.create({ model: 'sim-claude', max_tokens: 50, messages }),
  'anthropic, streamed': async (fetch, key) =>
    readToEnd(anthropic(fetch, key).messages.stream({ model: 'sim-claude', max_tokens: 50, messages })),
  'AI SDK, openai': (fetch, key) => generateText({ model: aiSdk.openai(fetch, key), prompt: 'Hello', providerOptions }),
  'AI SDK, openai, streamed': (fetch, key) => streamWith(aiSdk.openai(fetch, key)),
  'AI SDK, anthropic': (fetch, key) => generateText({ model: aiSdk.anthropic(fetch, key), prompt: 'Hello' }),
  'AI SDK, anthropic, streamed': (fetch, key) => streamWith(aiSdk.anthropic(fetch, key)),
  'LangChain, chat': (fetch, key) => chatOpenAI(fetch, key, false).invoke('Hello'),
  'LangChain, chat, streamed': async (fetch, key) => readToEnd(await chatOpenAI(fetch, key, false).stream('Hello')),
  'LangChain, responses, streamed': async (fetch, key) => readToEnd(await chatOpenAI(fetch, key, true).stream('Hello')),
  'LangChain, messages': (fetch, key) => chatAnthropic(fetch, key).invoke('Hello'),
  'LangChain, messages, streamed': async (fetch, key) => readToEnd(await chatAnthropic(fetch, key).stream('Hello')),
};

async function spentOf({ secret }: MintedKey): Promise<bigint> {
  const response = await harness.get('/v1/balance', { authorization: `Bearer ${secret}` });
  return BigInt(((await response.json()) as { spent_nanousd: number }).spent_nanousd);
}

test.each(Object.entries(USES))('%s: one receipt, of exactly what the account spent', async (_name, use) => {
  const key = await harness.mint();
  const meter = meteredFetch();
  await use(meter.fetch, key.secret);
  expect(await meter.settled()).toBe(true);
  expect(meter.receipts).toHaveLength(1);
  expect(meter.total()).toBeGreaterThan(0n);
  expect(meter.total()).toBe(await spentOf(key));
});

describe('receipts', () => {
  test('of all calls of an SDK sum to what the account spent, refused calls included', async () => {
    const key = await harness.mint();
    const meter = meteredFetch();
    const client = openai(meter.fetch, key.secret);
    await Promise.all([1, 2, 3].map(() => USES['openai, chat']!(meter.fetch, key.secret)));
    await client.chat.completions.create({ model: 'no-such-model', messages }).catch(() => {});
    await USES['openai, chat, streamed']!(meter.fetch, key.secret);
    expect(meter.receipts).toHaveLength(5);
    expect(meter.receipts.filter(({ costNanousd }) => costNanousd === 0n)).toHaveLength(1);
    expect(meter.total()).toBe(await spentOf(key));
  });

  test('of a stream that was left are pending until they are asked for', async () => {
    const key = await harness.mint();
    const meter = meteredFetch();
    const stream = await openai(meter.fetch, key.secret).chat.completions.create({
      model: 'sim-gpt',
      messages,
      stream: true,
    });
    for await (const chunk of stream) if ((chunk.choices[0]?.delta.content ?? '') !== '') break;
    expect(await meter.settled()).toBe(true);
    expect(meter.receipts).toHaveLength(1);
    expect(meter.total()).toBe(await spentOf(key));
  });

  test('are counted once for a request that is repeated under its key', async () => {
    const key = await harness.mint();
    const meter = meteredFetch();
    const headers = { 'idempotency-key': 'once' };
    for (const _ of [1, 2]) {
      await openai(meter.fetch, key.secret).chat.completions.create({ model: 'sim-gpt', messages }, { headers });
    }
    expect(meter.receipts).toHaveLength(1);
    expect(meter.total()).toBe(await spentOf(key));
  });

  test('are not made of calls that go elsewhere or cost nothing by nature', async () => {
    const meter = meteredFetch();
    await meter.fetch(harness.sim.url);
    await (await meter.fetch(`${harness.url}/v1/models`)).text();
    expect(meter.receipts).toEqual([]);
  });
});
