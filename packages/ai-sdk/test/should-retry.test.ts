import { embed, generateText, streamText } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeGateway } from '../../client/test/fake-gateway.ts';
import { createTollgate, type TollgateProvider } from '../src/index.ts';

let gateway: FakeGateway;
let tollgate: TollgateProvider;
beforeAll(async () => {
  gateway = await FakeGateway.start();
  tollgate = createTollgate({ baseURL: gateway.url, apiKey: 'k' });
});
afterAll(() => gateway.stop());

const PROMPT = { prompt: 'Hi', maxRetries: 1 };

async function streamed(): Promise<void> {
  const errors: unknown[] = [];
  const stream = streamText({ ...PROMPT, model: tollgate('m'), onError: ({ error }) => void errors.push(error) });
  await stream.consumeStream();
  throw errors[0];
}

test.each([
  ['generateText', () => generateText({ ...PROMPT, model: tollgate('m') })],
  ['streamText', streamed],
  ['embed', () => embed({ model: tollgate.embeddingModel('m'), value: 'Hi', maxRetries: 1 })],
])('%s does not repeat a call that was charged, because the gateway forbids it', async (_name, ask) => {
  gateway.play(() => ({ kind: 'status', status: 504, code: 'host_timeout', final: true, cost: 7n }));
  await expect(ask()).rejects.toMatchObject({ statusCode: 504, isRetryable: false });
  expect(gateway.requests.length).toBe(1);
  expect(gateway.charged).toBe(7n);
});
