import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, startHarness } from './harness.ts';
import { enrol } from './people.ts';
import { until } from './until.ts';

const HELLO = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
const LOW = { balanceBelowNanousd: 999_999_999, capPercent: 80, lossesPerHourNanousd: null, diskFreeBytes: null };

let harnesses: Harness[];
let folder: string;

beforeEach(() => {
  harnesses = [];
  folder = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
});
afterEach(async () => {
  await Promise.all(harnesses.map((harness) => harness.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function manage({ url, config }: Harness, method: string, path: string, body?: object): Promise<unknown> {
  const token = readFileSync(join(config.dataFolder, 'console.token'), 'utf8').trim();
  const response = await fetch(`${url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

interface AlertList {
  readonly data: readonly {
    readonly id: string;
    readonly kind: string;
    readonly message: string;
    readonly acknowledged_by: string | null;
  }[];
}

describe('an alert', () => {
  test('is listed, acknowledged and configured per account', async () => {
    const harness = await startHarness({ folder: join(folder, 'one'), config: { alerts: LOW } });
    harnesses.push(harness);
    const { secret, accountId } = await harness.mint({ capNanousd: 1_000_000n });
    const account = formatId('acct_', accountId);
    const settings = { balance_below_nanousd: 0, cap_percent: 1 };
    expect(await manage(harness, 'PATCH', `/accounts/${account}/alert-settings`, settings)).toMatchObject(settings);
    expect(await manage(harness, 'GET', `/accounts/${account}/alert-settings`)).toMatchObject(settings);
    await (await harness.post(HELLO, { authorization: `Bearer ${secret}` })).text();
    await harness.running.alerts.look();
    const open = (await manage(harness, 'GET', `/alerts?account=${account}&status=open`)) as AlertList;
    expect(open.data).toMatchObject([{ kind: 'key_cap' }]);
    const [{ id }] = open.data as [AlertList['data'][number]];
    expect(await manage(harness, 'POST', `/alerts/${id}/acknowledge`, {})).toMatchObject({
      acknowledged_at: expect.any(Number),
    });
    const rest = (await manage(harness, 'GET', `/alerts?account=${account}&status=unacknowledged`)) as AlertList;
    expect(rest.data).toEqual([]);
    const audit = (await manage(harness, 'GET', `/audit?account=${account}`)) as { data: { action: string }[] };
    expect(audit.data.map(({ action }) => action)).toEqual(['alert.acknowledge', 'alerts.change']);
  });

  test('about a cap that is used up is for the key or the person, as the refusal said', async () => {
    const harness = await startHarness({ folder: join(folder, 'one'), config: { alerts: LOW } });
    harnesses.push(harness);
    const { accountId } = await harness.mint();
    const personId = await enrol(harness.running.books, 'grace@example.com', { roles: [[accountId, 'member']] });
    const { secret } = await harness.mintFor(accountId, { personId, capNanousd: 1_000_000n });
    const account = formatId('acct_', accountId);
    const caps = `/accounts/${account}/members/grace@example.com`;
    await manage(harness, 'PUT', caps, { spend_cap_nanousd: 900_000 });
    await manage(harness, 'PATCH', `/accounts/${account}/alert-settings`, { balance_below_nanousd: 0, cap_percent: 1 });
    const call = async (max_tokens: number): Promise<string> =>
      (await harness.post({ ...HELLO, max_tokens }, { authorization: `Bearer ${secret}` })).text();
    const usedUp = async (): Promise<string[]> => {
      await harness.running.alerts.look();
      const { data } = (await manage(harness, 'GET', `/alerts?account=${account}`)) as AlertList;
      return data.filter(({ message }) => message.endsWith('calls are refused.')).map(({ kind }) => kind);
    };
    await call(20);
    // Less is left of the person's cap, but the key's is checked first.
    expect(await call(4_000)).toContain("this key's spend cap leaves");
    expect(await usedUp()).toEqual(['key_cap']);
    await manage(harness, 'PUT', caps, { spend_cap_nanousd: 500_000 });
    expect(await call(20)).toContain("the spend cap of this key's person leaves");
    expect((await usedUp()).sort()).toEqual(['key_cap', 'person_cap']);
  });

  test('is raised by a verification that finds violations, and resolved by a clean one', async () => {
    const harness = await startHarness({ folder: join(folder, 'one') });
    harnesses.push(harness);
    const { verify } = harness.running.books.ledger;
    harness.running.books.ledger.verify = async (...args) => ({
      ...(await verify.apply(harness.running.books.ledger, args)),
      violations: ['Account 1 is wrong.'],
    });
    const verified = async (): Promise<void> => {
      await manage(harness, 'POST', '/system/verify', {});
      await until(
        async () => ((await manage(harness, 'GET', '/system/verify')) as { status: string }).status === 'done',
        'it is verified',
      );
    };
    await verified();
    await verified();
    expect(await manage(harness, 'GET', '/alerts?status=open')).toMatchObject({
      data: [{ kind: 'verify', message: expect.stringContaining('Account 1 is wrong.') }],
    });
    harness.running.books.ledger.verify = verify;
    await verified();
    expect(await manage(harness, 'GET', '/alerts?status=open')).toMatchObject({ data: [] });
  });
});
