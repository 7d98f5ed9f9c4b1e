import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../campaigns/gateway-process.ts';
import { freshSchema, runSql } from './postgres.ts';
import { type Received, type Receiver, startReceiver } from './webhook-receiver.ts';

const HELLO = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
const CREDIT_NANOUSD = 1_000_000_000;
const MINUTE_MS = 60_000;
const NAMES = ['one', 'two', 'three'] as const;

let home: string;
let database: string;
let receiver: Receiver;
let replicas: { readonly gateway: GatewayProcess; readonly token: string }[];

/** Replicas go by the database's clock, which a test cannot move, so what waits after this many attempts moves instead. */
async function let20MinutesPass(attempted: number): Promise<void> {
  await until(newestDelivery, ({ attempts }) => attempts === attempted);
  await runSql(database, 'UPDATE webhook_delivery SET due_ms = due_ms - $1', [20 * MINUTE_MS]);
  await runSql(database, 'UPDATE webhook SET due_ms = due_ms - $1, next_ms = next_ms - $1', [20 * MINUTE_MS]);
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
  database = await freshSchema();
  receiver = await startReceiver();
  replicas = [];
  for (const name of NAMES) {
    const folder = join(home, name);
    mkdirSync(folder);
    const configFile = join(folder, 'tollgate.config.json');
    const settings = { store: database, alerts: { balance_below_nanousd: CREDIT_NANOUSD - 1, disk_free_mb: null } };
    writeFileSync(configFile, JSON.stringify(settings));
    // Local mode may call receivers on this machine. On PostgreSQL there is no control socket.
    const operator = () => () => Promise.reject(new Error('Use the management API.'));
    const gateway = await startGatewayProcess({ folder, configFile, isLocal: true, operator });
    replicas.push({ gateway, token: readFileSync(join(folder, 'console.token'), 'utf8').trim() });
  }
});
afterAll(async () => {
  await Promise.all(replicas.map(({ gateway }) => gateway.stop()));
  await receiver.stop();
  rmSync(home, { recursive: true, force: true });
});

async function manage(at: number, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const { gateway, token } = replicas[at]!;
  const response = await fetch(`${gateway.url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

/** An account that is below the limit after its first call, and a key of it. */
async function openKey(name: string): Promise<{ readonly account: string; readonly secret: string }> {
  const { id: account } = (await manage(0, 'POST', '/accounts', { name })) as { id: string };
  const credit = { amount_nanousd: CREDIT_NANOUSD, reference: name };
  await manage(0, 'POST', `/accounts/${account}/credits`, credit);
  const { secret } = (await manage(0, 'POST', '/keys', { account, name })) as { secret: string };
  return { account, secret };
}

async function call(at: number, secret: string): Promise<void> {
  const response = await fetch(`${replicas[at]!.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(HELLO),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}

/** The newest first. */
async function deliveries(): Promise<readonly Record<string, unknown>[]> {
  const { data } = (await manage(1, 'GET', '/webhooks/pager/deliveries')) as { data: Record<string, unknown>[] };
  return data;
}

async function newestDelivery(): Promise<Record<string, unknown>> {
  return (await deliveries())[0]!;
}

/** One for each id: an event is sent again if the machine stops for so long that the receiver's response comes too late. */
function receivedEvents(): readonly Received[] {
  return [...new Map(receiver.received.map((received) => [received.headers['webhook-id'], received])).values()];
}

describe('three gateway processes on one PostgreSQL', () => {
  test('send an alert once, and the standardwebhooks package verifies it in a fourth process', async () => {
    const { secret } = (await manage(0, 'PUT', '/webhooks/pager', { url: receiver.url })) as { secret: string };
    await receiver.set({ secret });
    const shared = await openKey('shared');
    const own = await Promise.all(NAMES.map(openKey));
    // The alert of a replica's own account shows that it has looked at the shared one too.
    for (const [at, { secret: ownSecret }] of own.entries()) {
      await call(at, shared.secret);
      await call(at, ownSecret);
    }
    const isAllDelivered = (all: readonly Record<string, unknown>[]): boolean =>
      all.length === 1 + NAMES.length && all.every(({ status }) => status === 'delivered');
    await until(deliveries, isAllDelivered);
    const accounts = receivedEvents().map(({ event }) => event!.data.account);
    expect(accounts.toSorted()).toEqual([shared, ...own].map(({ account }) => account).toSorted());
    expect(new Set(receivedEvents().map(({ event }) => event!.type))).toEqual(new Set(['alert.balance']));
    const logged = replicas.flatMap(({ gateway }) => gateway.log.filter(({ alert }) => alert !== undefined));
    expect(logged.map(({ account }) => account).toSorted()).toEqual(accounts.toSorted());
    const { data } = (await manage(2, 'GET', `/alerts?account=${shared.account}`)) as { data: unknown[] };
    expect(data).toMatchObject([{ kind: 'balance', resolved_at: null }]);
  });

  test('deliver an event once to a receiver that fails for an hour and redirects in between', async () => {
    const before = receiver.received.length;
    await receiver.set({ status: 503 });
    const { id } = (await manage(0, 'POST', '/webhooks/pager/test', {})) as { id: string };
    await receiver.arrived(before + 1);
    await let20MinutesPass(1);
    await receiver.arrived(before + 2);
    await receiver.set({ status: 302, location: `${receiver.url}/elsewhere` });
    await let20MinutesPass(2);
    await receiver.arrived(before + 3);
    expect(await until(newestDelivery, ({ attempts }) => attempts === 3)).toMatchObject({
      id,
      status: 'pending',
      error: expect.stringContaining('redirect (302)'),
    });
    await receiver.set({ status: 200 });
    await let20MinutesPass(3);
    await receiver.arrived(before + 4);
    expect(await until(newestDelivery, ({ attempts }) => attempts === 4)).toMatchObject({ id, status: 'delivered' });
    const attempts = receiver.received.slice(before);
    expect(attempts.map(({ headers, path, event }) => [headers['webhook-id'], path, event?.type])).toEqual(
      Array.from({ length: 4 }, () => [id, '/in', 'webhook.test']),
    );
  });

  test('send nothing to an address that is forbidden, when it is named and when it is called', async () => {
    const refused = await manage(0, 'PUT', '/webhooks/inside', { url: 'https://10.1.2.3/in' });
    expect(JSON.stringify(refused)).toContain('private');
    await runSql(database, "UPDATE webhook SET url = 'https://10.1.2.3/in' WHERE name = 'pager'");
    const { id } = (await manage(2, 'POST', '/webhooks/pager/test', {})) as { id: string };
    expect(await until(newestDelivery, ({ attempts }) => attempts === 1)).toMatchObject({
      id,
      status: 'pending',
      http_status: null,
      error: expect.stringContaining('private'),
    });
  });
});

/** Asks again until the answer is as expected, with pauses in which the gateways have the cores to themselves. */
async function until<Answer>(ask: () => Promise<Answer>, isIt: (answer: Answer) => boolean): Promise<Answer> {
  for (let asked = 0; asked < 5_000; asked++) {
    const answer = await ask();
    if (isIt(answer)) return answer;
    await pause(10);
  }
  throw new Error('Waited in vain.');
}
