import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../src/config/config.ts';
import { readStore } from '../src/config/store.ts';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';
import { type EmptySchema, emptySchema, runSql } from './postgres.ts';
import { type PostgresProxy, startProxy } from './postgres-proxy.ts';
import { until } from './until.ts';

const HELLO = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };

describe('gateways on PostgreSQL', () => {
  let folder: string;
  let schema: EmptySchema;
  let url: string;
  let harnesses: Harness[];
  let proxies: PostgresProxy[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-replicas-'));
    schema = await emptySchema();
    url = schema.url;
    harnesses = [];
    proxies = [];
  });

  afterEach(async () => {
    for (const proxy of proxies) proxy.plugIn();
    await Promise.all(harnesses.map((harness) => harness.stop()));
    for (const proxy of proxies) proxy.close();
    await schema.giveBack();
    rmSync(folder, { recursive: true });
  });

  async function start(storeUrl = url, options: HarnessOptions = {}): Promise<Harness> {
    const config: Partial<Config> = { store: readStore(storeUrl), ...options.config };
    const harness = await startHarness({ hosted: true, ...options, folder, config });
    harnesses.push(harness);
    return harness;
  }

  async function startBehindProxy(): Promise<{ harness: Harness; proxy: PostgresProxy }> {
    const proxy = await startProxy(url);
    proxies.push(proxy);
    return { proxy, harness: await start(proxy.url) };
  }

  const withKey = (secret: string, more: Record<string, string> = {}) => ({
    authorization: `Bearer ${secret}`,
    ...more,
  });

  it("bill each other's callers: one balance, one receipt, one answer to an idempotency key", async () => {
    const [one, two] = [await start(), await start()];
    const { secret } = await one.mint({ creditNanousd: 1_000_000_000n });
    const headers = withKey(secret, { 'idempotency-key': 'the same' });
    const first = await one.post(HELLO, headers);
    expect(first.status).toBe(200);
    const id = first.headers.get('x-request-id')!;
    const again = await two.post(HELLO, headers);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect(two.sim.calls).toHaveLength(0);
    expect(await two.receipt(id, secret)).toEqual(await one.receipt(id, secret));
    const balances = await Promise.all(
      [one, two].map(async (each) => (await each.get('/v1/balance', withKey(secret))).json()),
    );
    expect(balances[0]).toEqual(balances[1]);
    await one.expectCleanBooks();
  });

  it('hear of a key that another has revoked', async () => {
    const [one, two] = [await start(), await start()];
    const { secret, keyId } = await one.mint();
    expect((await two.post(HELLO, withKey(secret))).status).toBe(200);
    await one.running.books.store.updateKey(keyId, { revokedMs: Date.now() });
    await until(async () => (await two.get('/v1/balance', withKey(secret))).status === 401, 'the key to be refused');
    expect((await two.post(HELLO, withKey(secret))).status).toBe(401);
  });

  it('refuse calls with 503 while the database is unreachable, before any host hears of them, and serve again after', async () => {
    const { harness, proxy } = await startBehindProxy();
    const { secret } = await harness.mint();
    expect((await harness.post(HELLO, withKey(secret))).status).toBe(200);
    const heard = harness.sim.calls.length;
    proxy.unplug();
    await until(async () => (await harness.get('/readyz')).status === 503, 'the gateway not to be ready');
    for (let call = 0; call < 5; call++) {
      const refused = await harness.post(HELLO, withKey(secret));
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    }
    expect(harness.sim.calls).toHaveLength(heard);
    proxy.plugIn();
    await until(async () => (await harness.get('/readyz')).status === 200, 'the gateway to be ready');
    expect((await harness.post(HELLO, withKey(secret))).status).toBe(200);
    await harness.expectCleanBooks();
  });

  it('let a call that is under way wait for the database at its end, and charge it once', async () => {
    const { harness, proxy } = await startBehindProxy();
    const { secret } = await harness.mint();
    harness.sim.script({ gate: 'answer', words: 5 });
    const answering = harness.post(HELLO, withKey(secret));
    await harness.sim.waitForGate('answer', 1);
    proxy.unplug();
    harness.sim.release('answer', 10);
    await until(async () => (await harness.get('/readyz')).status === 503, 'the gateway not to be ready');
    expect(harness.running.books.ledger.openHolds).toBe(1);
    proxy.plugIn();
    const answered = await answering;
    expect(answered.status).toBe(200);
    const cost = Number(answered.headers.get('x-gateway-cost-nanousd'));
    expect(cost).toBeGreaterThan(0);
    const receipt = await harness.receipt(answered.headers.get('x-request-id')!, secret);
    expect(receipt).toMatchObject({ status: 'settled', cost_nanousd: cost });
    await harness.expectCleanBooks();
  });

  it('continue above the part of the ledger that another one, with a wrong clock, has closed', async () => {
    const one = await start();
    const { secret } = await one.mint();
    const before = await one.post(HELLO, withKey(secret));
    expect(before.status).toBe(200);
    const yearOfIds = BigInt(365 * 86_400_000) << 22n;
    await one.settled();
    await runSql(url, "UPDATE meta SET value = (SELECT max(id) FROM call) + $1 WHERE name = 'closed_up_to'", [
      yearOfIds,
    ]);
    await until(async () => (await one.post(HELLO, withKey(secret))).status === 200, 'a call is admitted');
  });

  it('stop admitting when others took one of them for dead, and go on as a new one', async () => {
    const one = await start();
    const { secret } = await one.mint();
    expect((await one.post(HELLO, withKey(secret))).status).toBe(200);
    await runSql(url, 'UPDATE instance SET state = 3 WHERE state = 1');
    const told = () => one.log.some(({ msg }) => typeof msg === 'string' && msg.includes('declared dead'));
    await until(told, 'the gateway to notice');
    expect((await one.post(HELLO, withKey(secret))).status).toBe(200);
    await one.expectCleanBooks();
  });
});
