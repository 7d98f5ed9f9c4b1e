import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Client, createClient, fallback, type Member } from '../src/index.ts';
import { FakeGateway } from './fake-gateway.ts';

let gateway: FakeGateway;
let client: Client;
const wait = async () => {};
beforeAll(async () => {
  gateway = await FakeGateway.start();
  client = createClient({ baseURL: gateway.url, apiKey: 'k', wait });
});
afterAll(() => gateway.stop());

const SPECS = ['first', 'middle', { model: 'last', maxCost: 1000n }];
const messages = [{ role: 'user', content: 'Hi' }];
const ask = (member: Member) => client.chat({ model: member.model, messages }, member);
const ceilings = () => gateway.requests.map(({ ceiling }) => ceiling);

test('what is left of the budget is the ceiling of each member, and a member may have a lower one', async () => {
  gateway.play(({ model }) => ({ kind: model === 'last' ? 'answer' : 'cut', cost: 40n }));
  const answer = await fallback(SPECS, ask, { budget: 2000n, wait });
  expect(ceilings()).toEqual([2000n, 1960n, 1000n]);
  expect(answer.spent).toBe(120n);
});

test("the client's own ceiling counts too", async () => {
  gateway.play(() => ({ kind: 'answer' }));
  const careful = createClient({ baseURL: gateway.url, maxCost: 500n });
  await fallback(SPECS, (member) => careful.chat({ model: member.model, messages }, member), { budget: 2000n });
  expect(ceilings()).toEqual([500n]);
});

test('a lost call that still runs counts as its hold', async () => {
  gateway.play(({ model }) =>
    model === 'first' ? { kind: 'reset', cost: 600n, runs: true } : { kind: 'answer', cost: 1n },
  );
  const answer = await fallback(SPECS, ask, { budget: 2000n, wait });
  expect(ceilings()).toEqual([2000n, 1400n]);
  expect(answer.receipts.map(({ state }) => state)).toEqual(['pending', 'settled']);
});

test('a lost call of which nothing can be learned counts as its whole ceiling', async () => {
  gateway.play(({ model }) => (model === 'first' ? { kind: 'reset', cost: 600n } : { kind: 'answer' }));
  const blind = createClient({
    baseURL: gateway.url,
    fetch: (input, init) =>
      String(input).includes('/receipts') ? Promise.reject(new TypeError('away')) : fetch(input, init),
  });
  await fallback(SPECS, (member) => blind.chat({ model: member.model, messages }, member), { budget: 2000n, wait });
  expect(ceilings()).toEqual([2000n, 0n]);
});

test.each([
  ['that did not reach the gateway costs nothing', false, 2000n],
  ['counts as what its call cost', true, 1400n],
])('an error of a proxy %s', async (_what, isMade, left) => {
  gateway.play(({ model }) => ({ kind: 'answer', cost: model === 'first' ? 600n : 1n }));
  let calls = 0;
  const proxied = createClient({
    baseURL: gateway.url,
    fetch: async (input, init) => {
      if (init?.method !== 'POST' || ++calls > 1) return fetch(input, init);
      if (isMade) await (await fetch(input, init)).text();
      return new Response('<html>Bad Gateway</html>', { status: 502 });
    },
  });
  const call = (member: Member) => proxied.chat({ model: member.model, messages }, member);
  const answer = await fallback(SPECS, call, { budget: 2000n, wait });
  expect(ceilings().at(-1)).toBe(left);
  expect(answer.spent).toBe(gateway.charged);
});

/** A proxy that answers the first call with a page of its own; `look` answers the questions about receipts. */
function behindProxy(look: (signal: AbortSignal | null | undefined) => Promise<Response>) {
  let calls = 0;
  const proxied = createClient({
    baseURL: gateway.url,
    fetch: async (input, init) => {
      if (String(input).includes('/receipts')) return look(init?.signal);
      return ++calls > 1 ? fetch(input, init) : new Response('<html>Bad Gateway</html>', { status: 502 });
    },
  });
  return (member: Member) => proxied.chat({ model: member.model, messages }, member);
}

test.each([
  ['while its cost is asked for', true],
  ['before its cost is asked for again', false],
])('a chain that is given up after an error of a proxy, %s, ends with the reason', async (_when, isAsking) => {
  gateway.play(() => ({ kind: 'answer' }));
  const abort = new AbortController();
  const reason = new Error('no longer needed');
  const look = vi.fn(async (signal: AbortSignal | null | undefined) => {
    if (isAsking) abort.abort(reason);
    signal?.throwIfAborted();
    return Response.json({ data: [] });
  });
  const waitOnce = async (_ms: number, signal?: AbortSignal | null) => {
    abort.abort(reason);
    signal?.throwIfAborted();
  };
  const options = { budget: 2000n, signal: abort.signal, ...(isAsking ? {} : { wait: waitOnce }) };
  await expect(fallback(SPECS, behindProxy(look), options)).rejects.toBe(reason);
  expect(look).toHaveBeenCalledTimes(1);
  expect(gateway.requests).toEqual([]);
});

test('a call whose cost is not learned in time counts as its whole ceiling', async () => {
  gateway.play(() => ({ kind: 'answer' }));
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
  const look = vi.fn(async (signal: AbortSignal | null | undefined) => {
    limit.abort(new DOMException('too late', 'TimeoutError'));
    signal?.throwIfAborted();
    return Response.json({ data: [] });
  });
  await fallback(SPECS, behindProxy(look), { budget: 2000n });
  timeout.mockRestore();
  expect(look).toHaveBeenCalledTimes(1);
  expect(ceilings()).toEqual([0n]);
});

test('a chain without a budget goes on after an error of a proxy without asking what the call cost', async () => {
  gateway.play(() => ({ kind: 'answer' }));
  const look = vi.fn(async () => Response.json({ data: [] }));
  const answer = await fallback(SPECS, behindProxy(look), { wait });
  expect(answer.model).toBe('middle');
  expect(look).not.toHaveBeenCalled();
});

test('a gateway that cannot be reached costs nothing', async () => {
  gateway.play(() => ({ kind: 'answer', cost: 1n }));
  const gone = await FakeGateway.start();
  const nowhere = createClient({ baseURL: gone.url });
  await gone.stop();
  const call = (member: Member) => (member.isLast ? client : nowhere).chat({ model: member.model, messages }, member);
  const answer = await fallback(['first', 'last'], call, { budget: 2000n, wait });
  expect(ceilings()).toEqual([2000n]);
  expect(answer.attempts).toHaveLength(2);
});

test.each(['5 cents', '', '-1', '0x10', '1e3'])(
  'a ceiling of the caller that is not an amount, %j, is sent as it is, and the refusal of the gateway ends the chain',
  async (ceiling) => {
    gateway.play(() => ({ kind: 'status', status: 400, code: 'invalid_header' }));
    const odd = createClient({ baseURL: gateway.url, headers: { 'x-gateway-max-cost-nanousd': ceiling } });
    const chain = fallback(SPECS, (member) => odd.chat({ model: member.model, messages }, member), { budget: 2000n });
    await expect(chain).rejects.toMatchObject({ name: 'FallbackError', status: 400, code: 'invalid_header' });
    expect(gateway.requests.map(({ ceilingText }) => ceilingText)).toEqual([ceiling]);
  },
);

test('the lower of the budget and of a ceiling that the caller sends as a header counts', async () => {
  gateway.play(() => ({ kind: 'answer', cost: 1n }));
  for (const [ceiling, sent] of [
    ['300', '300'],
    ['9000', '2000'],
  ] as const) {
    const careful = createClient({ baseURL: gateway.url, headers: { 'x-gateway-max-cost-nanousd': ceiling } });
    await fallback(SPECS, (member) => careful.chat({ model: member.model, messages }, member), { budget: 2000n });
    expect(gateway.requests.at(-1)!.ceilingText).toBe(sent);
  }
});

test('calls at the same time share the budget', async () => {
  gateway.play(({ ceiling }) => ({ kind: 'answer', cost: ceiling! }));
  const both = (member: Member) => Promise.all([ask(member), ask(member)]);
  const answer = await fallback(['first'], both, { budget: 2000n });
  expect(answer.spent).toBe(2000n);
  expect(gateway.charged).toBe(2000n);
});

/** The same numbers in every run, so that a failure can be repeated. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

test('the budget is never exceeded, whatever fails and whatever it costs', async () => {
  const random = generator(7);
  const kinds = ['reset', 'cut', 'answer', 'error event', 'late error'] as const;
  let failed = 0;
  for (let round = 0; round < 60; round++) {
    const isStream = random(2) === 1;
    gateway.play(({ ceiling }) => {
      const kind = kinds[random(isStream ? kinds.length : 3)]!;
      return { kind, cost: (ceiling! * BigInt(random(1001))) / 1000n };
    });
    const budget = BigInt(random(100_000));
    const call = (member: Member) =>
      isStream ? client.chat.stream({ model: member.model, messages }, member) : ask(member);
    const made = await fallback(['first', 'middle', 'last'], call, { budget, wait }).catch(() => null);
    if (made === null) failed += 1;
    expect(gateway.charged).toBeLessThanOrEqual(budget);
  }
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThan(60);
});
