import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { runCli } from '../src/cli/run.ts';
import type { RefusalLog } from '../src/gateway/refusal-log.ts';
import { systemClock as clock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { compose } from '../src/main/compose.ts';
import { commandLine } from '../src/operator/actor.ts';
import { type OperatorServices, runVerb } from '../src/operator/operator.ts';
import type { UsageRow } from '../src/store/usage-report.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';

/** The ways to a usage report and to refused calls, over one running gateway. */

interface Row {
  readonly [name: string]: string | number | null;
}
interface Report {
  readonly data: readonly Row[];
  readonly totals: Row;
}

const CANARY = 'canary-of-the-prompt';
let harness: Harness;
let owned: MintedKey;
let members: MintedKey;
let account: string;
/** The request ids of refused calls, by their code. */
const refused = new Map<string, string>();
const headers = { operator: {}, viewer: {}, member: {} };

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  owned = await harness.mint({ permissions: ['account_read'], creditNanousd: 50_000_000n });
  account = formatId(ACCOUNT_PREFIX, owned.accountId);
  const { books } = harness.running;
  const person = await enrol(books, 'ada@example.org', { roles: [[owned.accountId, 'member']] });
  members = await harness.mintFor(owned.accountId, { personId: person });
  const services = { ...books, clock, actor: commandLine() } as unknown as OperatorServices;
  const mint = async (terms: object): Promise<object> => {
    const expires_at = Math.floor(clock.nowMs() / 1000) + 3600;
    const made = (await runVerb(services, 'managementkeys.mint', { expires_at, ...terms })) as { secret: string };
    return { authorization: `Bearer ${made.secret}` };
  };
  headers.operator = await mint({});
  headers.viewer = await mint({ account, role: 'viewer' });
  headers.member = { cookie: await openSession(books, person), origin: PUBLIC_URL };
  for (const { secret } of [owned, owned, members]) await call(secret, 'sim-gpt-mini');
  await call(owned.secret, 'sim-claude', { stream: true });
  await call(owned.secret, 'no-such-model');
  await call(members.secret, 'sim-gpt', {
    max_tokens: 16_000,
    messages: [{ role: 'user', content: CANARY.repeat(2_000) }],
  });
  await harness.settled();
  // They would be written two seconds later.
  await (harness.running.gateway.refusals as RefusalLog).write();
});
afterAll(() => harness.stop());

async function call(secret: string, model: string, more: object = {}): Promise<void> {
  const body = { model, messages: [{ role: 'user', content: CANARY }], max_tokens: 20, ...more };
  const response = await harness.post(body, { authorization: `Bearer ${secret}` });
  const text = await response.text();
  if (response.status === 200) return;
  refused.set(JSON.parse(text).error.code, response.headers.get('x-gateway-request-id')!);
}

async function read(path: string, who: keyof typeof headers): Promise<Report> {
  const response = await fetch(`${harness.url}/manage/v1${path}`, { headers: headers[who] });
  return (await response.json()) as Report;
}

async function command(...args: string[]): Promise<string> {
  const out: string[] = [];
  const terminal = { writeOut: (text: string) => void out.push(text), writeErr: (text: string) => void out.push(text) };
  const env = { HOME: harness.folder, TOLLGATE_DATA: harness.folder };
  await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: harness.folder, clock }));
  return out.join('');
}

/** The sum of a column of a CSV file whose cells need no quotes. */
function columnSum(csv: string, title: string): number {
  const [titles = [], ...rows] = csv
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  const at = titles.indexOf(title);
  return rows.reduce((sum, row) => sum + Number(row[at]), 0);
}

describe('a usage report', () => {
  test('has the same sums from the API, as CSV, as JSON lines, on the command line, and for callers', async () => {
    const path = '/usage?bucket=hour&group_by=key,model';
    const report = await read(path, 'operator');
    const spent = (await harness.running.books.store.findAccount(owned.accountId))!.spentNanousd;
    expect(report.totals).toMatchObject({ requests: 4, cost_nanousd: Number(spent) });
    expect(spent).toBeGreaterThan(0n);
    const csv = await (await fetch(`${harness.url}/manage/v1${path}&format=csv`, { headers: headers.operator })).text();
    const jsonl = await (
      await fetch(`${harness.url}/manage/v1${path}&format=jsonl`, { headers: headers.operator })
    ).text();
    const printed = await command('usage', '--bucket', 'hour', '--by', 'key,model', '--csv');
    expect(printed).toBe(csv);
    expect(csv).toMatch(/^start,start_utc,.*\r\n\d+,\d{4}-\d\d-\d\dT\d\d:00:00Z,/);
    expect(columnSum(csv, 'cost_nanousd')).toBe(Number(spent));
    expect(Math.round(columnSum(csv, 'cost_usd') * 1e9)).toBe(Number(spent));
    const lines = jsonl
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    expect(lines).toEqual(report.data);
    const own = await (await harness.get('/v1/usage?group_by=model', bearer(owned))).json();
    expect((own as Report).totals).toMatchObject({ requests: 4, cost_nanousd: Number(spent) });
    expect(await command('usage', '--by', 'model')).toMatch(/MODEL +REQUESTS[\s\S]*sim-gpt-mini +3[\s\S]*\n +4 /);
  });

  test('counts refused calls where it can tell them apart', async () => {
    const byKey = (await read('/usage?group_by=key', 'operator')).data;
    expect(new Map(byKey.map(({ key, refused: count }) => [key, count]))).toEqual(
      new Map([
        [formatId(KEY_PREFIX, owned.keyId), 1],
        [formatId(KEY_PREFIX, members.keyId), 1],
      ]),
    );
    expect((await read('/usage?group_by=model', 'operator')).totals.refused).toBeNull();
    const empty = await read('/usage?group_by=model&model=nobody-calls-this', 'operator');
    expect([empty.data, empty.totals.refused]).toEqual([[], null]);
    expect((await read('/usage?since=0&until=3600&group_by=key', 'operator')).totals.refused).toBe(0);
  });

  test('has times of streams, and of calls', async () => {
    const { data } = await read('/usage?group_by=model', 'operator');
    const of = (model: string): Row => data.find((row) => row.model === model)!;
    expect(of('sim-claude').first_byte_p50_ms).toBeGreaterThan(0);
    expect(of('sim-gpt-mini')).toMatchObject({ first_byte_p50_ms: null, duration_p95_ms: expect.any(Number) });
    expect(await read('/usage?metrics=cost', 'operator')).toMatchObject({
      totals: { requests: null, duration_p50_ms: null },
    });
  });

  test('shows a viewer the account without hosts and addresses, and a member their own calls', async () => {
    const seen = await read(`/usage?account=${account}&group_by=person`, 'viewer');
    expect(seen.totals.requests).toBe(4);
    expect(seen.data.some((row) => 'host' in row || 'person_email' in row)).toBe(false);
    expect(await read(`/usage?account=${account}&group_by=model,%20host`, 'viewer')).toMatchObject({
      error: { code: 'permission_denied' },
    });
    expect((await read(`/usage?account=${account}`, 'member')).totals).toMatchObject({ requests: 1, refused: 1 });
  });

  test.each(['usage', 'refusals'])('%s say nothing about people who are not in the account', async (path) => {
    await enrol(harness.running.books, `stranger-${path}@example.org`, { roles: [] });
    const about = (email: string) => read(`/${path}?account=${account}&person=${email}`, 'viewer') as Promise<object>;
    const answers = await Promise.all(
      [`stranger-${path}@example.org`, 'unknown@example.org'].map(async (email) =>
        JSON.stringify(await about(email)).replace(email, 'them'),
      ),
    );
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toContain('not_found');
    expect(await about('ada@example.org')).not.toHaveProperty('error');
  });

  test('shows a key without account-read its own calls only', async () => {
    const own = (await (await harness.get('/v1/usage?group_by=key', bearer(members))).json()) as Report;
    expect(own.totals).toMatchObject({ requests: 1, refused: 1 });
    expect(own.data.map(({ key }) => key)).toEqual([formatId(KEY_PREFIX, members.keyId)]);
    expect(JSON.stringify(own)).not.toContain('person');
  });

  test('groups by a label whose name has a comma, if a backslash is before it', async () => {
    const key = await harness.mint({ creditNanousd: 50_000_000n });
    await call(key.secret, 'sim-gpt-mini', { metadata: { 'team,site': 'search' } });
    await harness.settled();
    const groupBy = encodeURIComponent('model,label:metadata.team\\,site');
    const report = await (await harness.get(`/v1/usage?group_by=${groupBy}`, bearer(key))).json();
    expect(report).toMatchObject({
      group_by: ['model', 'label:metadata.team,site'],
      data: [{ model: 'sim-gpt-mini', label: 'search', requests: 1 }],
    });
  });

  test('lets a viewer group by a label whose name has the name of a group after a comma', async () => {
    const groupBy = encodeURIComponent('label:metadata.team\\,host');
    expect(await read(`/usage?account=${account}&group_by=${groupBy}`, 'viewer')).toMatchObject({
      group_by: ['label:metadata.team,host'],
    });
  });

  test.each([
    ['bucket=year', 'bucket'],
    ['group_by=colour', 'group_by'],
    ['group_by=host', 'group_by'],
    ['group_by=chain,label:team', 'group_by'],
    [`group_by=label:${'x'.repeat(257)}`, 'group_by'],
    ['metrics=money', 'metrics'],
    ['since=2027-01-01&until=2026-01-01', 'since'],
    ['since=2026-01-01T00:30:00Z&until=2026-01-01T00:10:00Z', 'since'],
    ['since=2026-01-01T00:30:00Z&until=2026-01-01T00:30:00Z', 'since'],
    ['colour=red', 'colour'],
  ])('refuses %s to callers, and names the parameter', async (query, param) => {
    const response = await harness.get(`/v1/usage?${query}`, bearer(owned));
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { param } });
    // What only operators may group by is not offered.
    expect(text).not.toMatch(/account|host|person/);
  });
});

test('tollgate usage adds every kind of input tokens up', async () => {
  const { usage } = harness.running.books.store;
  const hour = Math.floor(clock.nowMs() / 3_600_000) * 3_600_000 - 3_600_000;
  const filter = { accountId: null, keyId: null, personId: null, model: null, route: null, host: null };
  const query = { sinceMs: hour, untilMs: hour + 7_200_000, bucket: 'none', groups: [], detail: null } as const;
  const [row] = (await usage.report({ ...query, filter, times: true })) as [UsageRow];
  const tokens = { fresh_tokens: 1_000n, cache_read_tokens: 200n, cache_write_tokens: 30n, cache_write_1h_tokens: 4n };
  const report = vi.spyOn(usage, 'report').mockResolvedValue([{ ...row, sums: { ...row.sums, ...tokens } }]);
  expect(await command('usage')).toMatch(/ 1,234 /);
  report.mockRestore();
});

test('a usage report that waited too long is refused with 429 on both routes', async () => {
  const busy = vi.spyOn(harness.running.books.store.usage, 'report').mockResolvedValue('busy');
  const responses = [
    await fetch(`${harness.url}/manage/v1/usage`, { headers: headers.operator }),
    await fetch(`${harness.url}/manage/v1/usage?format=csv`, { headers: headers.operator }),
    await harness.get('/v1/usage', bearer(owned)),
  ];
  busy.mockRestore();
  for (const response of responses) {
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  }
});

describe('a refused call', () => {
  test('is found by its request id, with what refused it, and without the prompt', async () => {
    const id = refused.get('insufficient_quota')!;
    const { data } = await read(`/refusals?account=${account}&request=${id}`, 'viewer');
    expect(data).toMatchObject([
      {
        id,
        http_status: 402,
        code: 'insufficient_quota',
        model: 'sim-gpt',
        key: formatId(KEY_PREFIX, members.keyId),
      },
    ]);
    expect(Number(data[0]!.worst_nanousd)).toBeGreaterThan(Number(data[0]!.available_nanousd));
    const shown = await command('receipts', 'show', id);
    expect(shown).toMatch(/code +insufficient_quota\n[\s\S]*worst +\$0\.\d+\navailable +\$0\.\d+\n/);
    expect(await command('receipts', 'show', refused.get('model_not_found')!)).toContain('model_not_found');
    expect(JSON.stringify(await read('/refusals', 'operator'))).not.toContain(CANARY);
  });

  test('of other keys is not shown to a member', async () => {
    const { data } = await read(`/refusals?account=${account}`, 'member');
    expect(data.map(({ code }) => code)).toEqual(['insufficient_quota']);
  });
});

function bearer({ secret }: MintedKey): { authorization: string } {
  return { authorization: `Bearer ${secret}` };
}
