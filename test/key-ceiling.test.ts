import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

let harness: Harness;
let caller: MintedKey;
const CEILING = 1_000_000n;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  caller = await harness.mint({ maxCostNanousd: CEILING });
});
afterAll(() => harness.stop());

const BODY = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }] };

async function ask(maxTokens: number, headers: Record<string, string> = {}, path?: string) {
  const key = { authorization: `Bearer ${caller.secret}` };
  const body = { ...BODY, max_tokens: maxTokens };
  const sent = path === undefined ? body : { path: '/chat/completions', body };
  const response = await harness.post(sent, { ...key, ...headers }, path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const header = (nanousd: bigint) => ({ 'x-gateway-max-cost-nanousd': String(nanousd) });

test("refuses a call that could cost more than the key's limit for one call, and names that limit", async () => {
  const { status, body } = await ask(4_000);
  expect([status, body.error]).toMatchObject([
    402,
    { type: 'cost_ceiling_exceeded', param: null, message: expect.stringContaining("this key's limit of $0.001") },
  ]);
  expect(JSON.stringify(body)).toContain("or raise the key's limit");
  expect((await ask(10)).status).toBe(200);
});

test("counts the lower of the key's limit and the ceiling of the request", async () => {
  const raised = await ask(4_000, header(CEILING * 1_000n));
  expect(JSON.stringify(raised.body)).toContain("this key's limit of $0.001");
  const lowered = await ask(10, header(1n));
  expect(lowered.body.error).toMatchObject({ param: 'x-gateway-max-cost-nanousd' });
  expect(JSON.stringify(lowered.body)).toContain('its ceiling of');
});

test("is part of a quote's ceiling", async () => {
  const fits = async (maxTokens: number) =>
    ((await ask(maxTokens, {}, '/v1/quote')).body as { fits: { ceiling: boolean } }).fits.ceiling;
  expect([await fits(4_000), await fits(10)]).toEqual([false, true]);
});
