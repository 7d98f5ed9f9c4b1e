import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_PREFIX } from '../src/canonical/id-prefixes.ts';
import { systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { commandLine } from '../src/operator/actor.ts';
import { type OperatorServices, runVerb } from '../src/operator/operator.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { until } from './until.ts';

let harness: Harness;
let caller: MintedKey;
let account: string;
const secrets = { operator: '', viewer: '', colleague: '' };

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  caller = await harness.mint();
  account = formatId(ACCOUNT_PREFIX, caller.accountId);
  secrets.operator = await mint({});
  secrets.viewer = await mint({ account, role: 'viewer' });
  const authorization = `Bearer ${caller.secret}`;
  for (const team of ['=cmd|calc', 'plain']) {
    const call = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };
    await (await harness.post(call, { authorization, 'x-gateway-chain': `${team.slice(1, 4)};1` })).text();
  }
  await harness.settled();
});
afterAll(() => harness.stop());

async function mint(terms: object): Promise<string> {
  const expires_at = Math.floor(Date.now() / 1000) + 3600;
  return ((await runVerb(services(), 'managementkeys.mint', { expires_at, ...terms })) as { secret: string }).secret;
}

function services(): OperatorServices {
  const { books } = harness.running;
  return { ...books, clock: systemClock, actor: commandLine() } as unknown as OperatorServices;
}

function read(path: string, who: keyof typeof secrets, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${harness.url}/manage/v1${path}`, { headers: { authorization: `Bearer ${secrets[who]}`, ...headers } });
}

describe('receipts', () => {
  test('are read by a viewer of their account, without host, attempts and loss', async () => {
    const list = (await (await read(`/receipts?account=${account}`, 'viewer')).json()) as { data: object[] };
    expect(list.data).toHaveLength(2);
    const hidden = ['host', 'attempts', 'tries', 'loss'];
    expect(hidden.filter((name) => list.data.some((receipt) => name in receipt))).toEqual([]);
    const { id } = list.data[0] as { id: string };
    const shown = (await (await read(`/receipts/${id}`, 'viewer')).json()) as object;
    expect(hidden.filter((name) => name in shown)).toEqual([]);
    expect(await (await read(`/receipts/${id}`, 'operator')).json()).toHaveProperty('host');
  });

  test('are found by what the filters say', async () => {
    const found = async (query: string): Promise<number> =>
      ((await (await read(`/receipts?${query}`, 'operator')).json()) as { data: object[] }).data.length;
    expect(await found('chain=cmd')).toBe(1);
    expect(await found(`account=${account}&status=settled&ended=complete&route=/v1/chat/completions`)).toBe(2);
    expect(await found('status=open')).toBe(0);
    expect(await found('until=1000')).toBe(0);
    expect(await found('model=sim-gpt-mini')).toBe(2);
  });

  test('are not searched by host except by operators', async () => {
    const refused = await read(`/receipts?account=${account}&host=simulated`, 'viewer');
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('Only operators may send host'),
    ]);
  });
});

test('no response of the API is taken for another type than its own', async () => {
  const answers = await Promise.all([
    read('/me', 'viewer'),
    read('/nothing', 'viewer'),
    read('/keys', 'viewer', { authorization: 'x' }),
  ]);
  expect(answers.map(({ status, headers }) => [status, headers.get('x-content-type-options')])).toEqual([
    [200, 'nosniff'],
    [404, 'nosniff'],
    [401, 'nosniff'],
  ]);
});

describe('an export', () => {
  test('has every row as CSV, with dollars beside nanodollars', async () => {
    const response = await read(`/receipts?account=${account}&format=csv`, 'viewer');
    expect(response.headers.get('content-type')).toContain('text/csv');
    const [head, ...rows] = (await response.text()).trimEnd().split('\r\n');
    expect(head).toContain('cost_nanousd,cost_usd');
    expect(head).toContain('created,created_utc');
    expect(head).not.toContain('host');
    expect(rows).toHaveLength(2);
  });

  test('has every row as a line of JSON, over many pages', async () => {
    for (let made = 0; made < 5; made++) await harness.mintFor(caller.accountId);
    const response = await read('/keys', 'operator', { accept: 'application/jsonl' });
    const ids = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(6);
    expect(response.headers.get('content-type')).toContain('application/jsonl');
  });

  test('breaks off if the key that asked for it is revoked meanwhile', async () => {
    const { store } = harness.running.books;
    const terms = { expires_at: Math.floor(Date.now() / 1000) + 3600 };
    const key = (await runVerb(services(), 'managementkeys.mint', terms)) as { id: string; secret: string };
    for (let made = 0; made <= LIMITS.managementExportPageRows; made++) await harness.mintFor(caller.accountId);
    const [listKeys, pages] = [store.listKeys, [] as unknown[]];
    store.listKeys = async (...given) => {
      pages.push(given);
      const page = await listKeys.apply(store, given);
      await runVerb(services(), 'managementkeys.revoke', { management_key: key.id });
      return page;
    };
    const response = await fetch(`${harness.url}/manage/v1/keys?format=jsonl`, {
      headers: { authorization: `Bearer ${key.secret}` },
    });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(pages).toHaveLength(1);
    store.listKeys = listKeys;
  });

  test('of the audit is filtered by action, subject and time', async () => {
    const lines = async (query: string): Promise<string[]> =>
      (await (await read(`/audit?format=jsonl&${query}`, 'operator')).text()).split('\n').filter(Boolean);
    expect(await lines('action=management_key.mint')).toHaveLength(3);
    expect(await lines('action=nothing')).toEqual([]);
    expect(await lines('until=1000')).toEqual([]);
  });

  test('is bounded by a limit, and refused with the status of a page', async () => {
    expect((await (await read('/keys?format=csv&limit=1', 'operator')).text()).trimEnd().split('\r\n')).toHaveLength(2);
    expect((await read('/receipts?format=csv', 'viewer')).status).toBe(403);
    expect((await read('/keys?format=xml', 'operator')).status).toBe(400);
    expect((await read('/me?format=csv', 'operator')).status).toBe(400);
    expect((await read('/keys?format=csv&limit=0', 'operator')).status).toBe(400);
  });
});

test('an export with a limit goes on where a search stopped before it found that number', async () => {
  const { store } = harness.running.books;
  const list = store.listAccountReceipts;
  const limits: number[] = [];
  // As if a search looked at one receipt only.
  store.listAccountReceipts = (filter, page) => {
    limits.push(page.limit);
    return list.call(store, filter, { ...page, examineMax: 1 });
  };
  const rows = async (limit: number): Promise<number> =>
    (await (await read(`/receipts?format=jsonl&chain=cmd&limit=${limit}`, 'operator')).text()).split('\n').length - 1;
  expect([await rows(5), await rows(1)]).toEqual([1, 1]);
  expect(limits.slice(0, 2)).toEqual([5, 5]);
  store.listAccountReceipts = list;
});

describe('the system', () => {
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${harness.url}/manage/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets.operator}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('shows its settings without secrets', async () => {
    const system = (await (await read('/system', 'operator')).json()) as { settings: Record<string, unknown> };
    expect(system.settings).toMatchObject({ hosted: true, store: 'sqlite', limits: expect.any(Object) });
    expect(Object.keys(system.settings).filter((name) => /key|secret|token|url$/.test(name))).toEqual(['public_url']);
  });

  test('verifies the ledger as a task, whose result can be read', async () => {
    expect((await post('/system/verify', {})).status).toBe(200);
    const task = async () => (await (await read('/system/verify', 'operator')).json()) as { status: string };
    for (let turns = 0; turns < 500 && (await task()).status === 'running'; turns++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await task()).toMatchObject({ status: 'done', report: { ok: true, violations: [] } });
  });

  test('shows its hosts, with their models by price', async () => {
    const hosts = (await (await read('/hosts', 'operator')).json()) as { data: { models: object[] }[] };
    expect(hosts.data[0]).toMatchObject({ object: 'host', state: 'well', events: [] });
    expect(hosts.data[0]!.models[0]).toMatchObject({ place: 1 });
  });
});

test('the management keys of one account have a bounded number of requests under way, and others are not affected', async () => {
  secrets.colleague = await mint({ account, role: 'viewer' });
  const { store } = harness.running.books;
  const list = store.listAccountReceipts.bind(store);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let begun = 0;
  store.listAccountReceipts = async (filter, page) => {
    begun++;
    await released;
    return list(filter, page);
  };
  const who = (at: number) => (at % 2 === 0 ? 'viewer' : 'colleague');
  const running = Array.from({ length: LIMITS.managementRequestsMax }, (_, at) =>
    read(`/receipts?account=${account}`, who(at)),
  );
  await until(() => begun === LIMITS.managementRequestsMax, 'all requests have begun');
  for (const key of ['viewer', 'colleague'] as const) {
    const refused = await read('/me', key);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  }
  expect((await read('/me', 'operator')).status).toBe(200);
  release();
  for (const response of await Promise.all(running)) {
    expect(response.status).toBe(200);
    await response.text();
  }
  store.listAccountReceipts = list;
  await until(async () => (await read('/me', 'viewer')).status === 200, 'requests are answered again');
});
