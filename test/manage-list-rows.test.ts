import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { commandLine } from '../src/operator/actor.ts';
import { type OperatorServices, runVerb } from '../src/operator/operator.ts';
import { type Harness, startHarness } from './harness.ts';

const NOW_MS = Date.UTC(2026, 10, 15);
const ROWS = 1_000;
const clock = new ManualClock(NOW_MS);
let harness: Harness;
let account: string;

beforeAll(async () => {
  harness = await startHarness({ hosted: true, clock });
  const caller = await harness.mint();
  account = formatId(ACCOUNT_PREFIX, caller.accountId);
  const ask = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };
  await (await harness.post(ask, { authorization: `Bearer ${caller.secret}` })).text();
  await harness.settled();
  const receipt = await harness.newestReceipt();
  const { store } = harness.running.books;
  store.listAccountReceipts = async () => ({ receipts: Array.from({ length: ROWS }, () => receipt), next: null });
});
afterAll(() => harness.stop());

async function mint(terms: object): Promise<string> {
  const services = { ...harness.running.books, clock, actor: commandLine() } as unknown as OperatorServices;
  const expires_at = NOW_MS / 1000 + 3600;
  return ((await runVerb(services, 'managementkeys.mint', { expires_at, ...terms })) as { secret: string }).secret;
}

async function read(secret: string): Promise<number> {
  return (await ask(secret, 'GET', `receipts?account=${account}`)).status;
}

async function ask(secret: string, method: string, path: string): Promise<{ status: number; body: string }> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const body = method === 'GET' ? null : '{}';
  const response = await fetch(`${harness.url}/manage/v1/${path}`, { method, headers, body });
  return { status: response.status, body: await response.text() };
}

test('an account reads a bounded number of rows per second, and an operator as many as they like', async () => {
  const [viewer, colleague, operator] = [
    await mint({ account, role: 'viewer' }),
    await mint({ account, role: 'viewer' }),
    await mint({}),
  ];
  const atOnce = (LIMITS.listRowsPerSecond * LIMITS.listBurstS) / ROWS;
  for (let list = 0; list < atOnce; list++) expect(await read(list % 2 === 0 ? viewer : colleague)).toBe(200);
  expect([await read(viewer), await read(colleague), await read(operator)]).toEqual([429, 429, 200]);
  clock.advance(1_000);
  expect(await read(viewer)).toBe(200);
});

test('whoever has read too many rows can still read what is not a list, and make changes', async () => {
  const { accountId, keyId } = await harness.mint();
  const other = formatId(ACCOUNT_PREFIX, accountId);
  const owner = await mint({ account: other, role: 'owner' });
  const lists = (LIMITS.listRowsPerSecond * LIMITS.listBurstS) / ROWS;
  for (let list = 0; list < lists; list++) await ask(owner, 'GET', `receipts?account=${other}`);
  expect((await ask(owner, 'GET', `receipts?account=${other}`)).status).toBe(429);
  expect((await ask(owner, 'GET', 'me')).status).toBe(200);
  expect((await ask(owner, 'POST', `keys/${formatId(KEY_PREFIX, keyId)}/revoke`)).status).toBe(200);
});
