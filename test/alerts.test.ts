import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readStore } from '../src/config/store.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, startHarness } from './harness.ts';
import { freshSchema } from './postgres.ts';
import { until } from './until.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

const HELLO = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
const LOW = { balanceBelowNanousd: 999_999_999, capPercent: 80, lossesPerHourNanousd: null, diskFreeBytes: null };

let harnesses: Harness[];
let receiver: Receiver;
let folder: string;

beforeEach(async () => {
  harnesses = [];
  folder = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(harnesses.map((harness) => harness.stop()));
  await receiver.stop();
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
  readonly data: readonly { readonly id: string; readonly kind: string; readonly acknowledged_by: string | null }[];
}

describe('an alert', () => {
  test('is sent once over three processes on one PostgreSQL, and verified by a receiver in a fourth', async () => {
    const store = readStore(await freshSchema());
    for (const name of ['one', 'two', 'three']) {
      // Processes that share a store share the master keys too.
      const keys = harnesses[0] === undefined ? {} : { masterKey: harnesses[0].config.masterKey };
      mkdirSync(join(folder, name));
      harnesses.push(await startHarness({ folder: join(folder, name), config: { store, alerts: LOW, ...keys } }));
    }
    const [first] = harnesses as [Harness];
    const { secret } = (await manage(first, 'PUT', '/webhooks/pager', { url: receiver.url })) as { secret: string };
    await receiver.set({ secret });
    const { secret: key, accountId } = await first.mint();
    for (const harness of harnesses) {
      const answer = await harness.post(HELLO, { authorization: `Bearer ${key}` });
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
    }
    await Promise.all(harnesses.map(({ running }) => running.alerts.look()));
    await Promise.all(harnesses.map(({ running }) => running.alerts.look()));
    await until(() => receiver.received.length > 0, 'the alert arrived');
    const { data } = (await manage(first, 'GET', '/alerts')) as AlertList;
    expect(data).toMatchObject([{ kind: 'balance', account: formatId('acct_', accountId), resolved_at: null }]);
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]!.event).toMatchObject({
      type: 'alert.balance',
      data: { alert: data[0]!.id, below_nanousd: 999_999_999 },
    });
    const logged = harnesses.flatMap(({ log }) => log.filter(({ alert }) => alert !== undefined));
    expect(logged).toMatchObject([{ kind: 'balance', alert: data[0]!.id }]);
  });

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
