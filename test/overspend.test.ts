import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { type Harness, type KeyOptions, startHarness } from './harness.ts';
import { aPerson, audit } from './people-fixtures.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** Many calls at once, with money for a few: exactly that many succeed, however they arrive. */

const CALLS = 200;
const AFFORDABLE = 37;
const DAY_MS = 24 * 60 * 60 * 1000;
const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };

let clock: ManualClock;
let harness: Harness;
/** What one such call can cost at most by the bytes of its prompt, by its tokens, and what it does cost. */
let worst: bigint;
let counted: bigint;
let cost: bigint;

beforeAll(async () => {
  clock = new ManualClock(Date.UTC(2026, 10, 15, 12));
  harness = await startHarness({ hosted: true, clock });
  const { secret } = await harness.mint();
  const receiptOf = async (headers: Record<string, string>) => {
    const response = await harness.post(ASK, { authorization: `Bearer ${secret}`, ...headers });
    return harness.receipt(response.headers.get('x-gateway-request-id')!, secret);
  };
  const receipt = await receiptOf({});
  worst = BigInt(receipt.held_nanousd);
  counted = BigInt((await receiptOf({ 'x-gateway-max-cost-nanousd': String(worst - 1n) })).held_nanousd);
  cost = BigInt(receipt.cost_nanousd!);
});
beforeEach(() => harness.sim.reset());
afterEach(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(() => harness.stop());

interface Balance {
  readonly balance_nanousd: number;
  readonly held_nanousd: number;
  readonly available_nanousd: number;
  readonly key: Spending;
  readonly person?: Spending;
}

interface Spending {
  readonly spent_nanousd: number;
  readonly held_nanousd: number;
  readonly remaining_nanousd: number;
}

async function balanceOf(secret: string): Promise<Balance> {
  return (await (await harness.get('/v1/balance', { authorization: `Bearer ${secret}` })).json()) as Balance;
}

/** Sends all calls, lets the host answer only when each is admitted or refused, and returns those that passed. */
async function rush(
  secrets: readonly string[],
  stream: boolean,
  expected: number,
): Promise<{ passed: StreamClient[]; refused: StreamClient[]; during: Balance }> {
  const secret = secrets[0]!;
  harness.sim.reset();
  harness.sim.script({ gateHead: 'barrier' });
  const clients = Array.from({ length: CALLS }, (_, call) => {
    const headers = { authorization: `Bearer ${secrets[call % secrets.length]}` };
    return new StreamClient(harness.url, { ...ASK, stream }, headers);
  });
  const isRefused = ({ ended, status }: StreamClient) => ended !== null && status !== 200;
  await until(
    () => clients.filter(isRefused).length + harness.sim.received() >= CALLS,
    'every call is admitted or refused',
  );
  const during = await balanceOf(secret);
  expect(harness.sim.received()).toBe(expected);
  await harness.sim.waitForGate('barrier', expected);
  harness.sim.release('barrier', expected);
  await until(() => clients.every(({ ended }) => ended !== null), 'every call has ended');
  await harness.settled();
  return {
    passed: clients.filter(({ status }) => status === 200),
    refused: clients.filter(({ status }) => status !== 200),
    during,
  };
}

async function expectRefusals(refused: readonly StreamClient[], type: string, code: string): Promise<void> {
  for (const { status, headers, text } of refused) {
    expect([status, headers['x-gateway-cost-nanousd'], headers['x-should-retry']]).toEqual([402, '0', 'false']);
    expect(JSON.parse(text).error).toMatchObject({ type, code });
  }
}

const LIMITS_OF_MONEY: readonly [string, (nanousd: bigint) => KeyOptions, string, string][] = [
  ['a balance', (nanousd) => ({ creditNanousd: nanousd }), 'insufficient_allowance', 'insufficient_quota'],
  [
    "a key's cap",
    (nanousd) => ({ creditNanousd: 10n ** 12n, capNanousd: nanousd }),
    'key_spend_cap_exceeded',
    'key_spend_cap_exceeded',
  ],
  [
    "a key's cap of the day",
    (nanousd) => ({ creditNanousd: 10n ** 12n, capNanousd: nanousd, capWindow: 'day' }),
    'key_spend_cap_exceeded',
    'key_spend_cap_exceeded',
  ],
];

describe.each([false, true])('stream: %s', (stream) => {
  test.each(LIMITS_OF_MONEY)('%s that pays for a few calls pays for exactly these', async (_, options, type, code) => {
    let left = BigInt(AFFORDABLE) * worst + (worst - 1n);
    const { secret } = await harness.mint(options(left));
    const before = await balanceOf(secret);
    // The second round has what the first one released: its holds minus what its calls cost.
    for (let round = 1; round <= 2; round++) {
      // What is too little for a hold by bytes may be enough for one by tokens.
      const byTokens = (left % worst) / counted;
      const affordable = Number(left / worst + byTokens);
      expect(affordable).toBeGreaterThan(round === 1 ? AFFORDABLE - 1 : AFFORDABLE / 2);
      const { passed, refused, during } = await rush([secret], stream, affordable);
      expect([passed.length, refused.length]).toEqual([affordable, CALLS - affordable]);
      expect(during.held_nanousd).toBe(Number((left / worst) * worst + byTokens * counted));
      expect(during.available_nanousd).toBeGreaterThanOrEqual(0);
      await expectRefusals(refused, type, code);
      left -= BigInt(affordable) * cost;
    }
    const after = await balanceOf(secret);
    const spent = before.balance_nanousd - after.balance_nanousd;
    expect([after.held_nanousd, after.key.held_nanousd]).toEqual([0, 0]);
    expect(after.key.spent_nanousd).toBe(spent);
    expect(after.balance_nanousd).toBeGreaterThanOrEqual(0);
    if (code === 'insufficient_quota') expect(BigInt(after.available_nanousd)).toBe(left);
    else expect(BigInt(after.key.remaining_nanousd)).toBe(left);
  });
});

/** Three keys of one person, whose cap in the account is this much. */
async function keysOfPerson(id: bigint, capNanousd: bigint): Promise<string[]> {
  const { accountId } = await harness.mint({ creditNanousd: 10n ** 12n });
  const { directory } = harness.running.books.store;
  await directory.createPerson(aPerson(id), audit('person.create'));
  const membership = { accountId, personId: id, role: 'member', capNanousd, capWindow: 'day' } as const;
  await directory.putMembership(membership, audit('member.put'));
  const keys = [1, 2, 3].map(() => harness.mintFor(accountId, { personId: id }));
  return (await Promise.all(keys)).map(({ secret }) => secret);
}

test.each([false, true])("a person's cap pays for exactly its calls, over three keys (stream: %s)", async (stream) => {
  let left = BigInt(AFFORDABLE) * worst + (worst - 1n);
  const secrets = await keysOfPerson(stream ? 2n : 1n, left);
  for (let round = 1; round <= 2; round++) {
    const byTokens = (left % worst) / counted;
    const affordable = Number(left / worst + byTokens);
    const { passed, refused, during } = await rush(secrets, stream, affordable);
    expect([passed.length, refused.length]).toEqual([affordable, CALLS - affordable]);
    expect(during.person?.held_nanousd).toBe(Number((left / worst) * worst + byTokens * counted));
    await expectRefusals(refused, 'key_spend_cap_exceeded', 'key_spend_cap_exceeded');
    for (const { text } of refused) expect(JSON.parse(text).error.message).toContain("spend cap of this key's person");
    left -= BigInt(affordable) * cost;
  }
  const after = await Promise.all(secrets.map(balanceOf));
  const spent = after.reduce((sum, { key }) => sum + key.spent_nanousd, 0);
  for (const { person } of after) {
    expect(person).toMatchObject({ spent_nanousd: spent, held_nanousd: 0, remaining_nanousd: Number(left) });
  }
});

test('a daily cap resets at midnight while calls of the day before still run', async () => {
  const { secret } = await harness.mint({ creditNanousd: 10n ** 12n, capNanousd: 2n * worst, capWindow: 'day' });
  const headers = { authorization: `Bearer ${secret}` };
  harness.sim.script({ gateHead: 'barrier' });
  const open = () => new StreamClient(harness.url, ASK, headers);
  const yesterday = [open(), open()];
  await harness.sim.waitForGate('barrier', 2);
  const third = open();
  await third.end();
  expect(third.status).toBe(402);
  clock.setNowMs(clock.nowMs() + DAY_MS);
  const today = [open(), open()];
  await harness.sim.waitForGate('barrier', 4);
  expect((await balanceOf(secret)).key).toMatchObject({ held_nanousd: Number(2n * worst), remaining_nanousd: 0 });
  harness.sim.release('barrier', 4);
  await until(() => [...yesterday, ...today].every(({ ended }) => ended !== null), 'all four have ended');
  await harness.settled();
  // What yesterday's calls cost is not today's spending.
  expect((await balanceOf(secret)).key).toMatchObject({ spent_nanousd: Number(2n * cost), held_nanousd: 0 });
});

test('two keys of one account share its balance, and calls of all sizes never overdraw it', async () => {
  const credit = 40n * worst;
  const { secret, accountId } = await harness.mint({ creditNanousd: credit });
  const second = await harness.mintFor(accountId);
  harness.sim.script({ gateHead: 'barrier' });
  const clients = Array.from({ length: CALLS }, (_, index) => {
    const headers = { authorization: `Bearer ${index % 2 === 0 ? secret : second.secret}` };
    return new StreamClient(harness.url, { ...ASK, max_tokens: 1 + ((index * 37) % 200) }, headers);
  });
  const refused = () => clients.filter(({ ended, status }) => ended !== null && status === 402).length;
  await until(() => refused() + harness.sim.received() >= CALLS, 'every call is admitted or refused');
  const during = await balanceOf(secret);
  expect(BigInt(during.held_nanousd)).toBeLessThanOrEqual(credit);
  expect(during.available_nanousd).toBeGreaterThanOrEqual(0);
  expect(refused()).toBeGreaterThan(0);
  harness.sim.release('barrier', CALLS);
  await until(() => clients.every(({ ended }) => ended !== null), 'every call has ended');
  await harness.settled();
  const charged = clients
    .filter(({ status }) => status === 200)
    .reduce((sum, { headers }) => sum + BigInt(String(headers['x-gateway-cost-nanousd'])), 0n);
  expect(BigInt((await balanceOf(secret)).balance_nanousd)).toBe(credit - charged);
});
