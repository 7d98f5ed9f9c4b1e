import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };

async function ask(headers: Record<string, string>, more: object = {}) {
  const response = await harness.post({ ...ASK, ...more }, headers);
  const text = await response.text();
  const model = (which: string) => response.headers.get(`x-gateway-${which}-model`);
  const id = response.headers.get('x-gateway-request-id')!;
  return { status: response.status, text, id, requested: model('requested'), effective: model('effective') };
}

test.each([{ stream: false }, { stream: true }])(
  'a later call of a chain keeps the model of the first as the requested one, and its place in the receipt: %o',
  async (more) => {
    const answer = await ask({ 'x-gateway-chain': 'plan_7-b;2', 'x-gateway-requested-model': 'sim-gpt-mini' }, more);
    expect(answer).toMatchObject({ status: 200, requested: 'sim-gpt-mini', effective: 'sim-gpt' });
    expect(await harness.receipt(answer.id)).toMatchObject({
      requested_model: 'sim-gpt-mini',
      effective_model: 'sim-gpt',
      chain: 'plan_7-b;2',
    });
  },
);

test('the first call of a chain has its own model as the requested one', async () => {
  const answer = await ask({ 'x-gateway-chain': 'plan;1' });
  expect(answer).toMatchObject({ status: 200, requested: 'sim-gpt' });
  expect(await harness.receipt(answer.id)).toMatchObject({ requested_model: 'sim-gpt', chain: 'plan;1' });
});

test('a call without a chain has null in its receipt', async () => {
  const { id } = await ask({});
  expect(await harness.receipt(id)).toMatchObject({ requested_model: 'sim-gpt', chain: null });
});

test('a refusal after the headers were read names the model of the first call', async () => {
  const headers = { 'x-gateway-chain': 'plan;2', 'x-gateway-requested-model': 'sim-gpt-mini' };
  expect(await ask(headers, { model: 'no-such-model' })).toMatchObject({ status: 404, requested: 'sim-gpt-mini' });
});

test.each([
  ['x-gateway-chain', 'plan'],
  ['x-gateway-chain', 'plan;0'],
  ['x-gateway-chain', 'plan;100'],
  ['x-gateway-chain', `${'p'.repeat(65)};1`],
  ['x-gateway-chain', 'a plan;1'],
  ['x-gateway-requested-model', 'a model'],
  ['x-gateway-requested-model', 'no-such-model'],
  ['x-gateway-requested-model', 'm'.repeat(201)],
])('refuses %s: %s, naming the header', async (name, value) => {
  const { status, text } = await ask({ 'x-gateway-chain': 'plan;2', [name]: value });
  expect(status).toBe(400);
  expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_header', param: name });
});

test('takes the longest id and the last place', async () => {
  expect(await ask({ 'x-gateway-chain': `${'p'.repeat(64)};99` })).toMatchObject({ status: 200 });
});

test('the model of the first call counts only together with a chain', async () => {
  const answer = await ask({ 'x-gateway-requested-model': 'sim-gpt-mini' });
  expect(answer).toMatchObject({ status: 200, requested: 'sim-gpt' });
  expect(await harness.receipt(answer.id)).toMatchObject({ requested_model: 'sim-gpt', chain: null });
});

test('refuses as the first model one that the key may not use', async () => {
  const { secret } = await harness.mint({ models: ['sim-gpt'] });
  const chain = { 'x-gateway-chain': 'plan;2', 'x-gateway-requested-model': 'sim-gpt-mini' };
  const { status, text } = await ask({ ...chain, authorization: `Bearer ${secret}` });
  expect(status).toBe(400);
  expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_header', param: 'x-gateway-requested-model' });
});
