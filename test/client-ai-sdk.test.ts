import { embed, generateText, streamText } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTollgate, type TollgateProvider } from '../packages/ai-sdk/src/index.ts';
import { type Harness, startHarness } from './harness.ts';

/** The provider for the AI SDK and a real gateway. */

let harness: Harness;
let tollgate: TollgateProvider;
let secret: string;
beforeAll(async () => {
  harness = await startHarness();
  ({ secret } = await harness.mint());
  tollgate = createTollgate({ baseURL: `${harness.url}/v1`, apiKey: secret });
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

async function expectReceipt(metadata: unknown): Promise<void> {
  const { requestId, costNanousd, components } = metadata as {
    requestId: string;
    costNanousd: string;
    components: Record<string, string>;
  };
  const { cost_nanousd } = await harness.receipt(requestId, secret);
  expect(costNanousd).toBe(String(cost_nanousd));
  expect(cost_nanousd).toBeGreaterThan(0);
  const sum = Object.values(components).reduce((total, amount) => total + BigInt(amount), 0n);
  expect(String(sum)).toBe(costNanousd);
}

test('generateText has the receipt of the call in its metadata', async () => {
  const { providerMetadata } = await generateText({ model: tollgate('sim-gpt'), prompt: 'Hello' });
  await expectReceipt(providerMetadata?.tollgate);
});

test('streamText has it when the stream has ended', async () => {
  const stream = streamText({ model: tollgate('sim-claude'), prompt: 'Hello' });
  await stream.consumeStream();
  await expectReceipt((await stream.providerMetadata)?.tollgate);
});

test('calls at the same time have receipts of their own', async () => {
  const model = tollgate('sim-gpt');
  const answers = await Promise.all([1, 2, 3].map((n) => generateText({ model, prompt: `Hello ${n}` })));
  const ids = answers.map(({ providerMetadata }) => providerMetadata?.tollgate?.requestId);
  expect(new Set(ids).size).toBe(3);
});

test('embed returns a vector', async () => {
  const { embedding } = await embed({ model: tollgate.embeddingModel('sim-embed'), value: 'Hello' });
  expect(embedding.length).toBeGreaterThan(0);
});

test('a call above the ceiling is refused', async () => {
  const careful = createTollgate({ baseURL: harness.url, apiKey: secret, maxCost: 1n });
  await expect(generateText({ model: careful('sim-gpt'), prompt: 'Hello' })).rejects.toMatchObject({ statusCode: 402 });
});

test('a fallback is named in the metadata of the call', async () => {
  const { secret: limited } = await harness.mint({ models: ['sim-gpt', 'sim-gpt-mini'] });
  const provider = createTollgate({ baseURL: harness.url, apiKey: limited });
  harness.sim.script({ status: 500 }, { model: 'sim-gpt-mini' });
  const { providerMetadata } = await generateText({
    model: provider.fallbackModel(['sim-gpt-mini', 'sim-gpt']),
    prompt: 'Hello',
  });
  harness.sim.script(null);
  expect(providerMetadata?.tollgate).toMatchObject({
    requestedModel: 'sim-gpt-mini',
    effectiveModel: 'sim-gpt',
    attempts: ['sim-gpt-mini', 'sim-gpt'],
  });
});
