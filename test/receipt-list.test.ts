import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** `GET /v1/receipts`: the caller's own receipts, over HTTP. */

let harness: Harness;
let owner: MintedKey;
let sibling: MintedKey;
let stranger: MintedKey;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  owner = await harness.mint({ creditNanousd: 10_000_000_000n });
  sibling = await harness.mintFor(owner.accountId);
  stranger = await harness.mint({ creditNanousd: 10_000_000_000n });
});
afterAll(() => harness.stop());

const bearer = ({ secret }: MintedKey) => ({ authorization: `Bearer ${secret}` });

interface Listed {
  readonly object: string;
  readonly data: { readonly id: string; readonly key: string; readonly created: number; readonly ended: string }[];
  readonly has_more: boolean;
  readonly next: string | null;
  readonly error?: { readonly code: string; readonly param: string; readonly message: string };
}

async function list(key: MintedKey, query = ''): Promise<Listed & { readonly status: number }> {
  const response = await harness.get(`/v1/receipts${query}`, bearer(key));
  return { status: response.status, ...((await response.json()) as Listed) };
}

async function ask(key: MintedKey, headers: Record<string, string> = {}, model = 'sim-gpt'): Promise<string> {
  const body = { model, messages: [{ role: 'user', content: 'hello' }] };
  const response = await harness.post(body, { ...bearer(key), ...headers });
  expect(response.status).toBe(200);
  return response.headers.get('x-gateway-request-id')!;
}

const idsOf = ({ data }: Listed): string[] => data.map(({ id }) => id);

describe('the receipts of a key', () => {
  let first: string;
  let second: string;

  beforeAll(async () => {
    first = await ask(owner, { 'x-gateway-chain': 'plan;1' });
    second = await ask(owner, {}, 'sim-gpt-mini');
    await ask(sibling);
    await ask(stranger);
  });

  test('are found by id with that key, and not with another key of the account that may not read it', async () => {
    const show = async (key: MintedKey): Promise<number> =>
      (await harness.get(`/v1/receipts/${first}`, bearer(key))).status;
    expect([await show(owner), await show(sibling), await show(stranger)]).toEqual([200, 404, 404]);
    const reader = await harness.mintFor(owner.accountId, { permissions: ['account_read'] });
    expect(await show(reader)).toBe(200);
  });

  test('are listed newest first, without those of another key or another account', async () => {
    const listed = await list(owner);
    expect(listed).toMatchObject({ status: 200, object: 'list', has_more: false, next: null });
    expect(idsOf(listed)).toEqual([second, first]);
    expect(listed.data[1]).toEqual(await (await harness.get(`/v1/receipts/${first}`, bearer(owner))).json());
  });

  test('are found by model, chain and time', async () => {
    expect(idsOf(await list(owner, '?model=sim-gpt-mini'))).toEqual([second]);
    expect(idsOf(await list(owner, '?chain=plan'))).toEqual([first]);
    expect(idsOf(await list(sibling, '?chain=plan'))).toEqual([]);
    const [{ created } = { created: 0 }] = (await list(owner)).data;
    const iso = new Date(created * 1000).toISOString();
    expect(idsOf(await list(owner, `?since=${created + 60}`))).toEqual([]);
    expect(idsOf(await list(owner, `?since=${created - 60}&until=${created + 60}`))).toEqual([second, first]);
    expect(idsOf(await list(owner, `?until=${iso.slice(0, 10)}`))).toEqual([]);
    expect(idsOf(await list(owner, `?since=${iso.replace(/\.\d+Z/, '+00:00')}`)).length).toBeGreaterThan(0);
  });

  test('come page by page', async () => {
    const page = await list(owner, '?limit=1');
    expect([idsOf(page), page.has_more, page.next]).toEqual([[second], true, second]);
    const rest = await list(owner, `?limit=1&after=${page.next}`);
    expect([idsOf(rest), rest.has_more, rest.next]).toEqual([[first], false, null]);
  });

  test('are those of the whole account for a key that may read it, and of no other account', async () => {
    const reader = await harness.mintFor(owner.accountId, { permissions: ['account_read'] });
    const keys = (await list(reader)).data.map(({ key }) => key);
    expect(new Set(keys)).toEqual(new Set([owner, sibling].map(({ keyId }) => formatId('key_', keyId))));
  });

  test('never show what only the operator may see', async () => {
    const text = JSON.stringify(await list(owner));
    expect(text).not.toMatch(/"(host|attempts|tries|loss|account)":/);
  });
});

test('a call whose client never saw a head is found', async () => {
  const key = await harness.mintFor(owner.accountId);
  harness.sim.script({ gate: 'chunk' }, { times: 1 });
  const body = { model: 'sim-gpt', stream: true, messages: [{ role: 'user', content: 'hello' }] };
  const client = new StreamClient(harness.url, body, bearer(key));
  await harness.sim.waitForGate('chunk', 1);
  expect((await list(key)).data).toMatchObject([{ status: 'open', cost_nanousd: null }]);
  client.leave();
  await until(() => harness.running.gateway.runningCalls.count === 0, 'the call is over');
  expect((await list(key)).data).toMatchObject([{ status: 'settled', ended: 'client_gone', cost_nanousd: 0 }]);
});

describe('a bad query', () => {
  test.each([
    ['since', '?since=yesterday'],
    ['since', '?since=2026-13-01'],
    ['until', '?until=-5'],
    ['until', '?until='],
    ['limit', '?limit=0'],
    ['limit', '?limit=1001'],
    ['limit', '?limit=ten'],
    ['after', '?after=req_1'],
    ['after', '?after=key_0000000000000'],
    ['chain', '?chain='],
    ['chain', `?chain=${'c'.repeat(65)}`],
    ['model', `?model=${'m'.repeat(201)}`],
    ['limit', '?limit=1&limit=2'],
  ])('is refused, naming %s: %s', async (param, query) => {
    const { status, error } = await list(owner, query);
    expect([status, error?.code, error?.param]).toEqual([400, 'invalid_value', param]);
    expect(error?.message).toContain(`\`${param}\``);
  });

  test('is refused if a parameter is unknown, so that a misspelled filter is noticed', async () => {
    const { status, error } = await list(owner, '?sinse=5');
    expect([status, error?.code, error?.param]).toEqual([400, 'unsupported_parameter', 'sinse']);
  });
});
