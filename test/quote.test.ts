import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ModelRow } from '../src/catalog/schema.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { audit } from './people-fixtures.ts';
import { WIRE_CASES } from './wire-cases.ts';

/** A quote says what the call would hold and which error it would get, without making the call. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 };
const CHAT = '/v1/chat/completions';
/** A model whose tokenizer is known, so that a prompt can be counted. */
const COUNTED: ModelRow = {
  id: 'counted',
  caps: ['chat'],
  context_window: 100_000,
  max_output_tokens: 4096,
  tokenizer: 'o200k_base',
  price: { input: 1_000_000_000, output: 1_000_000_000 },
  hosts: [{ host: 'sim', model: 'sim-gpt' }],
};

interface Quote {
  readonly object: string;
  readonly model: string;
  readonly worst_case_nanousd: number;
  readonly components: Readonly<Record<string, number>>;
  readonly bounds: { readonly bytes_nanousd: number; readonly counted_nanousd: number };
  readonly likely_nanousd: number;
  readonly fits: Readonly<Record<string, boolean>>;
}

let harness: Harness;
let caller: MintedKey;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  caller = await harness.mint();
});
afterEach(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(() => harness.stop());

function post(path: string, body: unknown, headers: Record<string, string> = {}, secret = caller.secret) {
  return harness.post(body, { authorization: `Bearer ${secret}`, ...headers }, path);
}

async function quote(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  secret?: string,
): Promise<Quote> {
  const response = await post('/v1/quote', { path, body }, headers, secret);
  expect(response.status).toBe(200);
  return (await response.json()) as Quote;
}

describe.each(Object.entries(WIRE_CASES))('%s', (_name, { path, body, streams }) => {
  test.each(streams ? [false, true] : [false])('is what the call then holds (stream: %s)', async (stream) => {
    const asked = stream ? { ...body, stream } : body;
    const before = harness.sim.received();
    const quoted = await quote(path, asked);
    expect(harness.sim.received()).toBe(before);
    const called = await post(path, asked);
    await called.text();
    const receipt = await harness.receipt(called.headers.get('x-gateway-request-id')!, caller.secret);
    expect(quoted).toEqual({
      object: 'quote',
      model: called.headers.get('x-gateway-effective-model'),
      worst_case_nanousd: receipt.held_nanousd,
      components: { input: expect.any(Number), output: expect.any(Number) },
      bounds: { bytes_nanousd: expect.any(Number), counted_nanousd: expect.any(Number) },
      likely_nanousd: expect.any(Number),
      fits: { ceiling: true, cap: true, balance: true },
    });
    const { input, output } = quoted.components;
    expect(input! + output!).toBe(receipt.held_nanousd);
    const { bytes_nanousd, counted_nanousd } = quoted.bounds;
    expect(bytes_nanousd).toBeGreaterThanOrEqual(receipt.held_nanousd);
    expect(receipt.held_nanousd).toBeGreaterThanOrEqual(counted_nanousd);
    expect(counted_nanousd).toBeGreaterThanOrEqual(quoted.likely_nanousd);
  });

  test('refuses what the call refuses, in the same words and shape', async () => {
    const wrong = { ...body, model: 'no-such-model' };
    const [quoted, called] = [await post('/v1/quote', { path, body: wrong }), await post(path, wrong)];
    expect([quoted.status, called.status]).toEqual([404, 404]);
    const told = async (response: Response) => {
      const { request_id: _id, ...rest } = (await response.json()) as Record<string, unknown>;
      return rest;
    };
    expect(await told(quoted)).toEqual(await told(called));
    expect(quoted.headers.get('x-gateway-requested-model')).toBe('no-such-model');
    expect(quoted.headers.get('x-should-retry')).toBe('false');
  });
});

describe('what fits', () => {
  test('is told of ceiling, cap and balance, each by itself', async () => {
    // What does not fit by its bytes is counted, and may fit then.
    const worst = (await quote(CHAT, ASK)).bounds.counted_nanousd;
    const ceiling = (nanousd: number) => ({ 'x-gateway-max-cost-nanousd': String(nanousd) });
    expect((await quote(CHAT, ASK, ceiling(worst))).fits).toEqual({ ceiling: true, cap: true, balance: true });
    expect((await quote(CHAT, ASK, ceiling(worst - 1))).fits).toEqual({ ceiling: false, cap: true, balance: true });
    const poor = await harness.mint({ creditNanousd: BigInt(worst) - 1n, capNanousd: BigInt(worst) });
    expect((await quote(CHAT, ASK, {}, poor.secret)).fits).toEqual({ ceiling: true, cap: true, balance: false });
    const capped = await harness.mintFor(caller.accountId, { capNanousd: BigInt(worst) - 1n });
    expect((await quote(CHAT, ASK, {}, capped.secret)).fits).toEqual({ ceiling: true, cap: false, balance: true });
  });

  test('is told of the bytes as they were written, since bounds are made of bytes', async () => {
    const parameters = `{ "type" : "object" ,${' '.repeat(500)} "properties" : { } }`;
    const tool = `{"type":"function","function":{"name":"look","parameters":${parameters}}}`;
    const body = `{"model":"sim-gpt","messages":[{"role":"user","content":"Hi"}],"tools":[${tool}]}`;
    const response = await post('/v1/quote', `{"path":"${CHAT}", "body" : ${body} }`);
    const called = await post(CHAT, body);
    const receipt = await harness.receipt(called.headers.get('x-gateway-request-id')!, caller.secret);
    expect(((await response.json()) as Quote).worst_case_nanousd).toBe(receipt.held_nanousd);
    expect(receipt.held_nanousd).toBeGreaterThan((await quote(CHAT, JSON.parse(body))).worst_case_nanousd);
  });

  test('is likely to cost one usual answer for each that was asked for, or the output limit', async () => {
    const likely = async (more: object) => (await quote(CHAT, { ...ASK, ...more })).likely_nanousd;
    const usualNanousd = 512 * 10_000;
    expect((await likely({ n: 3, max_tokens: 4096 })) - (await likely({ max_tokens: 4096 }))).toBe(2 * usualNanousd);
    expect((await likely({ n: 3, max_tokens: 100 })) - (await likely({ max_tokens: 100 }))).toBe(200 * 10_000);
  });

  test('holds nothing and leaves no receipt', async () => {
    const fresh = await harness.mint();
    await quote(CHAT, ASK, {}, fresh.secret);
    const { store } = harness.running.books;
    const filter = { accountId: fresh.accountId, keyId: null, sinceMs: null };
    expect(await store.listReceipts(filter, { limit: 1, after: null })).toEqual([]);
    expect(await store.findAccount(fresh.accountId)).toMatchObject({ heldNanousd: 0n, spentNanousd: 0n });
  });
});

test.each(['suspended', 'closed'] as const)('a %s account gets the refusal of the call', async (status) => {
  const { secret, accountId } = await harness.mint({ creditNanousd: 0n });
  const { directory } = harness.running.books.store;
  await directory.setAccountStatus(accountId, 'suspended', audit('account.suspend'));
  const payout = { id: accountId + 1n, reference: 'closing', note: '', createdMs: 0 };
  if (status === 'closed') await directory.closeAccount(accountId, payout, audit('account.close'));
  const quoted = await post('/v1/quote', { path: CHAT, body: ASK }, {}, secret);
  const called = await post(CHAT, ASK, {}, secret);
  expect([quoted.status, called.status]).toEqual([403, 403]);
  expect(await quoted.json()).toEqual(await called.json());
});

test.each([0, 1_000_000_000_000])(
  'an account whose loss allowance is used up is told the bound by bytes, which its call holds (counted above %i)',
  async (countAboveNanousd) => {
    const limits = { hangupAllowanceNanousd: 0, countAboveNanousd };
    const wary = await startHarness({ hosted: true, config: { models: [COUNTED] }, limits });
    const { secret } = await wary.mint();
    const headers = { authorization: `Bearer ${secret}` };
    const content = 'the quick brown fox '.repeat(400);
    const body = { ...ASK, model: COUNTED.id, messages: [{ role: 'user', content }] };
    const ask = async (more: Record<string, string>): Promise<Quote> =>
      (await (await wary.post({ path: CHAT, body }, { ...headers, ...more }, '/v1/quote')).json()) as Quote;
    const quoted = await ask({});
    const called = await wary.post(body, headers);
    const receipt = await wary.receipt(called.headers.get('x-gateway-request-id')!, secret);
    expect([quoted.worst_case_nanousd, quoted.bounds.bytes_nanousd]).toEqual([
      receipt.held_nanousd,
      receipt.held_nanousd,
    ]);
    const ceiling = { 'x-gateway-max-cost-nanousd': String(quoted.worst_case_nanousd - 1) };
    expect((await ask(ceiling)).fits.ceiling).toBe(false);
    expect((await wary.post(body, { ...headers, ...ceiling })).status).toBe(402);
    await wary.stop();
  },
);

describe('a prompt that can be counted', () => {
  let counting: Harness;
  /** The clock stands still, so a count has as much time as it needs. */
  beforeAll(async () => {
    const clock = new ManualClock(Date.UTC(2026, 10, 15));
    counting = await startHarness({ clock, config: { models: [COUNTED] } });
  });
  afterAll(() => counting.stop());

  test('counts tokens if the bound by bytes does not fit, as the call does', async () => {
    const body = {
      ...ASK,
      model: COUNTED.id,
      messages: [{ role: 'user', content: 'the quick brown fox '.repeat(400) }],
    };
    const ask = async (headers: Record<string, string>): Promise<Quote> =>
      (await (await counting.post({ path: CHAT, body }, headers, '/v1/quote')).json()) as Quote;
    const { worst_case_nanousd: byBytes } = await ask({});
    const ceiling = { 'x-gateway-max-cost-nanousd': String(byBytes - 1) };
    const quoted = await ask(ceiling);
    const called = await counting.post(body, ceiling);
    const receipt = await counting.receipt(called.headers.get('x-gateway-request-id')!);
    expect(quoted.worst_case_nanousd).toBe(receipt.held_nanousd);
    expect(quoted.worst_case_nanousd).toBeLessThan(byBytes);
    expect(quoted.fits.ceiling).toBe(true);
  });
});

describe('a request for a quote', () => {
  test.each([
    '/v1/chat/completions',
    '/chat/completions',
    '/api/v1/chat/completions',
    '/v1/chat/completions?x=1',
    '/v1/chat/completions/',
  ])('takes the path %s', async (path) => {
    expect((await quote(path, ASK)).model).toBe('sim-gpt');
  });

  test.each(['/v1/quote', '/quote', '/api/v1/quote'])('comes in at %s', async (path) => {
    const response = await post(path, { path: CHAT, body: ASK });
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(((await response.json()) as Quote).object).toBe('quote');
  });

  test.each([
    ['no path', { body: ASK }, 'missing_required_parameter', 'path'],
    ['no body', { path: CHAT }, 'missing_required_parameter', 'body'],
    ['a path that is not billed', { path: '/v1/models', body: ASK }, 'invalid_value', 'path'],
    ['a path that is not text', { path: 7, body: ASK }, 'invalid_value', 'path'],
    ['something else', { path: CHAT, body: ASK, stream: true }, 'unsupported_parameter', 'stream'],
    [
      'a field whose name is a long text',
      { path: CHAT, body: ASK, ['x'.repeat(65)]: 1 },
      'unsupported_parameter',
      null,
    ],
    ['a list', [], 'missing_required_parameter', 'path'],
    [
      'a field of the call that is wrong',
      { path: CHAT, body: { ...ASK, max_tokens: -1 } },
      'invalid_value',
      'max_tokens',
    ],
  ])('with %s is refused by the name of the field', async (_title, body, code, param) => {
    const response = await post('/v1/quote', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  });

  test('whose call names one field twice is refused', async () => {
    const body = '{"model":"sim-gpt","model":"sim-claude","messages":[]}';
    const response = await post('/v1/quote', `{"path":"${CHAT}","body":${body}}`);
    expect(await response.json()).toMatchObject({ error: { code: 'duplicate_key' } });
  });

  test('needs a key', async () => {
    expect((await harness.post({ path: CHAT, body: ASK }, {}, '/v1/quote')).status).toBe(401);
  });
});
