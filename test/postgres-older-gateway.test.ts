import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../src/config/config.ts';
import { readStore } from '../src/config/store.ts';
import { parseId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, simHost, startHarness } from './harness.ts';
import { freshSchema } from './postgres.ts';
import { startPostgres } from './postgres-server.ts';
import { takeSnapshot } from './postgres-snapshot.ts';
import { until } from './until.ts';

/** One call as its caller saw it. */
interface Seen {
  readonly model: string;
  readonly status: number;
  readonly id: string;
  readonly costNanousd: bigint;
}

const CALLS_MAX = 400;
const LIMITED: Config['prices'] = new Map([['sim-gpt', { input: 3_000_000_000, output: 9_000_000_000 }]]);

describe('gateways whose PostgreSQL is put back to an older state', () => {
  let folder: string;
  let harnesses: Harness[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-older-'));
    harnesses = [];
  });

  afterEach(async () => {
    await Promise.all(harnesses.map((harness) => harness.stop()));
    rmSync(folder, { recursive: true });
  });

  async function start(url: string): Promise<Harness> {
    const harness = await startHarness({ hosted: true, folder, config: { store: readStore(url) } });
    harnesses.push(harness);
    return harness;
  }

  const withKey = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const hasNoticed = ({ log }: Harness) => log.some(({ msg }) => String(msg).includes('put back to an older state'));

  async function call(harness: Harness, secret: string, model: string): Promise<Seen> {
    const body = { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
    const response = await harness.post(body, withKey(secret));
    await response.text();
    const { status, headers } = response;
    const costNanousd = BigInt(headers.get('x-gateway-cost-nanousd') ?? 0);
    return { model, status, id: headers.get('x-request-id')!, costNanousd };
  }

  /** Calls one after the other until told to stop. */
  async function load(harness: Harness, secret: string, models: readonly string[], isOver: () => boolean) {
    const seen: Seen[] = [];
    while (!isOver() && seen.length < CALLS_MAX) {
      seen.push(await call(harness, secret, models[seen.length % models.length]!));
    }
    return seen;
  }

  /** Checks that each receipt belongs to its call; returns the receipts of the calls. */
  async function compare(harness: Harness, accountId: bigint, seen: readonly Seen[], versions: readonly string[]) {
    let spent = 0n;
    let found = 0;
    for (const { id, model, status, costNanousd } of seen) {
      const receipt = await harness.running.books.store.findReceipt(parseId('req_', id)!, accountId);
      if (receipt === null) continue;
      found += 1;
      expect(receipt).toMatchObject({ requestedModel: model, effectiveModel: model, costNanousd });
      expect(versions).toContain(receipt.priceVersion);
      if (status === 200) expect(['settled', 'voided']).toContain(receipt.state);
      spent += receipt.costNanousd;
    }
    return { spent, found };
  }

  it('write every receipt with its own model and price list, or none, and keep the balance exact', async () => {
    const url = await freshSchema();
    const [one, two] = [await start(url), await start(url)];
    const { secret, accountId } = await one.mint();
    const before = [await call(one, secret, 'sim-gpt'), await call(two, secret, 'sim-gpt')];
    const { putBack } = await takeSnapshot(url);
    const first = one.running.catalog.priceVersion;
    for (const harness of [one, two])
      await harness.running.reload({ ...harness.config, prices: LIMITED }, [simHost(harness.sim)]);
    const second = one.running.catalog.priceVersion;
    expect(second).not.toBe(first);
    let isOver = false;
    const loads = [
      load(one, secret, ['sim-gpt-mini', 'sim-gpt', 'sim-claude'], () => isOver),
      load(two, secret, ['sim-claude', 'sim-gpt-mini'], () => isOver),
    ];
    await until(() => one.sim.calls.length > 10 && two.sim.calls.length > 10, 'both are under load');
    await putBack(`INSERT INTO name (text) SELECT 'other ' || n FROM generate_series(1, 20) AS n;
      INSERT INTO price_list VALUES (2, 'other prices', '{}')`);
    await until(() => hasNoticed(one) && hasNoticed(two), 'both have noticed');
    isOver = true;
    const during = (await Promise.all(loads)).flat();
    await until(async () => (await one.get('/readyz')).status === 200, 'one is ready');
    await until(async () => (await two.get('/readyz')).status === 200, 'two is ready');
    const after = [await call(one, secret, 'sim-claude'), await call(two, secret, 'sim-gpt-mini')];
    expect(after.map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all([one.settled(), two.settled()]);
    const all = [...before, ...during, ...after];
    const { spent, found } = await compare(two, accountId, all, [first, second]);
    expect(found).toBeGreaterThanOrEqual(4);
    expect((await compare(one, accountId, after, [second])).found).toBe(2);
    expect(await one.running.books.store.findAccount(accountId)).toMatchObject({
      spentNanousd: spent,
      heldNanousd: 0n,
    });
    await one.expectCleanBooks();
  });

  it('end a running call without a charge', async () => {
    const url = await freshSchema();
    const one = await start(url);
    const { secret, accountId } = await one.mint();
    const { putBack } = await takeSnapshot(url);
    one.sim.script({ gate: 'answer', words: 5 });
    const answering = call(one, secret, 'sim-gpt');
    await one.sim.waitForGate('answer', 1);
    await putBack();
    await until(() => hasNoticed(one), 'it has noticed');
    one.sim.release('answer', 10);
    const { status, id, costNanousd } = await answering;
    expect([status, costNanousd]).toEqual([200, 0n]);
    expect(await one.running.books.store.findReceipt(parseId('req_', id)!, accountId)).toBeNull();
    await one.settled();
    expect(one.log.filter(({ level, err }) => level === 'error' && err !== undefined)).toEqual([]);
    expect((await call(one, secret, 'sim-gpt')).status).toBe(200);
    await one.expectCleanBooks();
  });

  it('hear of a key that was revoked afterwards, and refuse a key that was made in the lost time', async () => {
    const url = await freshSchema();
    const [one, two] = [await start(url), await start(url)];
    const { secret, keyId, accountId } = await one.mint();
    const { putBack } = await takeSnapshot(url);
    const later: MintedKey[] = [];
    for (let key = 0; key < 5; key++) later.push(await two.mintFor(accountId));
    for (const harness of [one, two]) {
      for (const each of [secret, later[0]!.secret]) expect((await call(harness, each, 'sim-gpt')).status).toBe(200);
    }
    await putBack();
    await until(() => hasNoticed(one) && hasNoticed(two), 'both have noticed');
    // The balance needs no hold, so only the keys in memory decide.
    const status = async (key: string) => (await two.get('/v1/balance', withKey(key))).status;
    await until(async () => (await status(later[0]!.secret)) === 401, 'the lost key is refused');
    expect(await status(secret)).toBe(200);
    await one.running.books.store.updateKey(keyId, { revokedMs: Date.now() });
    await until(async () => (await status(secret)) === 401, 'the revoked key is refused');
  });

  it('go on after a failover to a server that had not received the last commits', async () => {
    const server = await startPostgres();
    try {
      const [one, two] = [await start(server.url()), await start(server.url())];
      const { secret, accountId } = await one.mint();
      const before = [await call(one, secret, 'sim-gpt'), await call(two, secret, 'sim-gpt')];
      await server.crash();
      const kept = server.keepData();
      await server.restart();
      await until(async () => (await call(one, secret, 'sim-gpt-mini')).status === 200, 'one serves again');
      await until(async () => (await call(two, secret, 'sim-claude')).status === 200, 'two serves again');
      let isOver = false;
      const loads = [one, two].map((harness) => load(harness, secret, ['sim-claude', 'sim-gpt-mini'], () => isOver));
      await until(() => one.sim.calls.length > 6 && two.sim.calls.length > 6, 'both are under load');
      await server.crash();
      kept.putBack();
      await server.restart('on a new timeline');
      await until(() => hasNoticed(one) && hasNoticed(two), 'both have noticed');
      isOver = true;
      await Promise.all(loads);
      const after: Seen[] = [];
      for (const harness of [one, two]) {
        await until(async () => (await harness.get('/readyz')).status === 200, 'it is ready');
        after.push(await call(harness, secret, 'sim-gpt-mini'));
      }
      expect(after.map(({ status }) => status)).toEqual([200, 200]);
      const versions = [one.running.catalog.priceVersion];
      expect((await compare(one, accountId, [...before, ...after], versions)).found).toBe(4);
      await until(async () => (await one.running.books.ledger.verify()).openHolds === 0, 'no hold is open');
      await one.expectCleanBooks();
    } finally {
      await Promise.all(harnesses.splice(0).map((harness) => harness.stop()));
      await server.stop();
    }
  });
});
