import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Behaviour, FakeGateway } from '../../client/test/fake-gateway.ts';
import { createTollgate, type TollgateProvider } from '../src/index.ts';

let gateway: FakeGateway;
let tollgate: TollgateProvider;
beforeAll(async () => {
  gateway = await FakeGateway.start();
  tollgate = createTollgate({ baseURL: gateway.url, apiKey: 'k' });
});
afterAll(() => gateway.stop());

const MODELS = ['first', 'second'];
const modelsAsked = () => gateway.requests.map(({ model }) => model);

function failFirst(failure: Behaviour): void {
  gateway.play(({ model }) => (model === 'first' ? failure : { kind: 'answer', cost: 1000n }));
}

async function generated() {
  return generateText({ model: tollgate.fallbackModel(MODELS, { budget: 5000n }), prompt: 'Hi' });
}

async function streamed() {
  const errors: unknown[] = [];
  const model = tollgate.fallbackModel(MODELS, { budget: 5000n });
  const stream = streamText({ model, prompt: 'Hi', onError: ({ error }) => void errors.push(error) });
  await stream.consumeStream();
  if (errors.length > 0) throw errors[0];
  return { text: await stream.text, providerMetadata: await stream.providerMetadata };
}

describe.each([
  ['generateText', generated],
  ['streamText', streamed],
])('%s', (_name, ask) => {
  test('gets the answer of the next model, and what both cost', async () => {
    failFirst({ kind: 'reset', cost: 5n });
    const { text, providerMetadata } = await ask();
    expect(text).toBe('Hello');
    expect(modelsAsked()).toEqual(MODELS);
    expect(providerMetadata?.tollgate).toMatchObject({
      requestedModel: 'first',
      effectiveModel: 'second',
      costNanousd: '1000',
      spentNanousd: '1005',
      attempts: MODELS,
    });
    expect(gateway.charged).toBe(1005n);
  });

  test('does not repeat a chain that was stopped', async () => {
    failFirst({ kind: 'status', status: 402, code: 'insufficient_quota', final: true });
    await expect(ask()).rejects.toMatchObject({ name: 'FallbackError', spent: 0n });
    expect(modelsAsked()).toEqual(['first']);
  });
});

test('streamText moves on from an error before any content', async () => {
  failFirst({ kind: 'error event', cost: 7n });
  const { text, providerMetadata } = await streamed();
  expect(text).toBe('Hello');
  expect(providerMetadata?.tollgate).toMatchObject({ spentNanousd: '1007' });
});

test('the budget is the ceiling of the first model, and what is left that of the second', async () => {
  failFirst({ kind: 'cut', cost: 40n });
  await generated();
  expect(gateway.requests.map(({ ceiling }) => ceiling)).toEqual([5000n, 4960n]);
});
