import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { type Instance, type LedgerOperation, type Store, StoreUnavailable } from '../src/store/store.ts';
import { type EmptySchema, emptySchema, runSql } from './postgres.ts';
import { startProxy } from './postgres-proxy.ts';
import { startPostgres } from './postgres-server.ts';
import { takeSnapshot } from './postgres-snapshot.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

interface Process {
  readonly store: Store;
  life: Instance;
}

/** As if a process that knows nothing of the newer state had come first: other texts take the next numbers. */
const OTHERS_FIRST = `INSERT INTO name (text) SELECT 'other ' || n FROM generate_series(1, 20) AS n;
  INSERT INTO price_list VALUES (2, 'other prices', '{}')`;

describe('a PostgreSQL that is put back to an older state under running processes', () => {
  let schema: EmptySchema;
  let url: string;
  let stores: Store[];

  beforeEach(async () => {
    schema = await emptySchema();
    url = schema.url;
    stores = [];
    const store = await openPostgresStore({ url, clock: systemClock });
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n)]);
    await store.close();
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await schema.giveBack();
  });

  async function begin(storeUrl = url): Promise<Process> {
    const store = await openPostgresStore({ url: storeUrl, clock: systemClock });
    stores.push(store);
    return { store, life: await store.beginInstance() };
  }

  /** Sends a heartbeat. If it is not accepted, registers again and returns why; otherwise null. */
  async function beat(process: Process): Promise<string | null> {
    if ((await process.store.heartbeat(process.life.epoch)) !== null) return null;
    process.life = await process.store.beginInstance();
    return process.life.replaced;
  }

  const hold = (id: bigint, { life }: Process, over: Parameters<typeof aHold>[2] = {}) =>
    aHold(id, 10n, { epoch: life.epoch, ...over });
  const kinds = async ({ store }: Process, ...operations: LedgerOperation[]) =>
    (await store.apply(operations)).map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind));

  it('is noticed with the next heartbeat of a process whose commits are missing, and then by the others', async () => {
    const [one, two] = [await begin(), await begin()];
    expect(await kinds(two, hold(1n, two), aSettle(1n, 0n))).toEqual(['held', 'settled']);
    const { putBack } = await takeSnapshot(url);
    expect(await kinds(one, hold(2n, one))).toEqual(['held']);
    await putBack();
    // A hold in the older state counts until a process notices the change.
    expect(await kinds(one, hold(3n, one))).toEqual(['held']);
    expect(await beat(two)).toBeNull();
    expect(await beat(one)).toContain('commits that it had confirmed are missing');
    expect(one.life.voidedHolds).toBe(1);
    await expect(two.store.apply([hold(4n, two)])).rejects.toThrow('Another process found');
    await expect(two.store.apply([hold(4n, two)])).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await beat(two)).toContain('Another process found');
    expect([await beat(one), await beat(two)]).toEqual([null, null]);
    const ends = [aSettle(2n, 5n), aSettle(3n, 5n)];
    const outcomes = await kinds(one, ...ends, hold(4n, one), hold(5n, two));
    expect(outcomes).toEqual(['settle_found_void', 'settle_found_void', 'held', 'held']);
    expect(await kinds(two, aSettle(4n, 5n), aSettle(9n, 5n))).toEqual(['settled', 'no_hold']);
    expect(await one.store.verify()).toMatchObject({ openHolds: 1, violations: [] });
  });

  it('is noticed although commits after it, even without a reply, make up for the number of those that are missing', async () => {
    const proxy = await startProxy(url);
    const one = await begin(proxy.url);
    expect(await kinds(one, hold(1n, one))).toEqual(['held']);
    const { putBack } = await takeSnapshot(url);
    expect(await kinds(one, hold(2n, one))).toEqual(['held']);
    await putBack();
    proxy.cutNextCommit('after');
    expect(await kinds(one, hold(3n, one))).toEqual(['held']);
    await until(async () => (await one.store.health()).ok, 'the store is up');
    expect(await kinds(one, hold(4n, one))).toEqual(['held']);
    await expect(one.store.apply([hold(5n, one)])).rejects.toThrow('commits that it had confirmed are missing');
    expect(await beat(one)).toContain('commits that it had confirmed are missing');
    await one.store.close();
    proxy.close();
  });

  it('is noticed by a settlement that does not find its hold', async () => {
    const one = await begin();
    const { putBack } = await takeSnapshot(url);
    expect(await kinds(one, hold(1n, one))).toEqual(['held']);
    await putBack();
    await expect(one.store.apply([aSettle(1n, 5n)])).rejects.toThrow('commits that it had confirmed are missing');
    expect(await beat(one)).toContain('commits that it had confirmed are missing');
    expect(await kinds(one, aSettle(1n, 5n))).toEqual(['settle_found_void']);
  });

  it('is noticed by the heartbeat of a process that commits nothing any more', async () => {
    const one = await begin();
    const { putBack } = await takeSnapshot(url);
    expect(await kinds(one, hold(1n, one))).toEqual(['held']);
    expect(await beat(one)).toBeNull();
    await putBack();
    expect(await beat(one)).toContain('commits that it had confirmed are missing');
  });

  it('voids the holds that were open in the older state, and charges nothing for their calls', async () => {
    const one = await begin();
    expect(await kinds(one, hold(1n, one), hold(2n, one))).toEqual(['held', 'held']);
    const { putBack } = await takeSnapshot(url);
    expect(await kinds(one, aSettle(1n, 7n))).toEqual(['settled']);
    await putBack();
    expect(await beat(one)).not.toBeNull();
    expect(one.life.voidedHolds).toBe(2);
    expect(await kinds(one, aSettle(1n, 7n), aSettle(2n, 7n))).toEqual(['settle_found_void', 'settle_found_void']);
    expect(await one.store.findAccount(1n)).toMatchObject({ balanceNanousd: 1_000n, heldNanousd: 0n });
    expect(await one.store.verify()).toMatchObject({ openHolds: 0, violations: [] });
  });

  it('does not let a process act for another one that was given its epoch', async () => {
    const { putBack } = await takeSnapshot(url);
    const one = await begin();
    await putBack();
    const two = await begin();
    expect(two.life).toMatchObject({ epoch: one.life.epoch, number: one.life.number });
    await expect(one.store.apply([hold(1n, one)])).rejects.toThrow('older state');
    expect(await kinds(two, hold(2n, two))).toEqual(['held']);
    expect(await beat(one)).toContain('older state');
    expect(one.life.epoch).not.toBe(two.life.epoch);
    const row = await runSql(url, 'SELECT state FROM instance WHERE epoch = $1', [two.life.epoch]);
    expect(row.rows).toEqual([{ state: 1 }]);
  });

  it('is noticed if the generation went back, although everything else is there', async () => {
    const one = await begin();
    await runSql(url, "UPDATE meta SET value = 0 WHERE name = 'generation'");
    expect(await beat(one)).toContain('older state');
    const { rows } = await runSql(url, "SELECT value FROM meta WHERE name = 'generation'");
    expect(rows).toEqual([{ value: '2' }]);
  });

  it('writes no name under the number that another text has now', async () => {
    const one = await begin();
    const { putBack } = await takeSnapshot(url);
    // Refused, so that nothing of this process is committed: only its memory has the name.
    expect(await kinds(one, hold(1n, one, { requestedModel: 'a new name', amountNanousd: 9_999n }))).toEqual([
      'balance',
    ]);
    await putBack(OTHERS_FIRST);
    const again = { requestedModel: 'a new name' };
    await expect(one.store.apply([hold(2n, one, again)])).rejects.toThrow('names or price lists');
    expect((await runSql(url, 'SELECT count(*)::int AS calls FROM call')).rows).toEqual([{ calls: 0 }]);
    expect(await beat(one)).toContain('names or price lists');
    expect(await kinds(one, hold(3n, one, again))).toEqual(['held']);
    expect(await one.store.findReceipt(3n, 1n)).toMatchObject({ requestedModel: 'a new name' });
  });

  it('writes no price list under the number that another one has now, and registers its own again', async () => {
    const one = await begin();
    const { putBack } = await takeSnapshot(url);
    const priceId = await one.store.registerPrices('new prices', '{"model":2}');
    expect(await kinds(one, hold(1n, one, { priceId, amountNanousd: 9_999n }))).toEqual(['balance']);
    await putBack(OTHERS_FIRST);
    await expect(one.store.apply([hold(2n, one, { priceId })])).rejects.toThrow('names or price lists');
    expect(await beat(one)).not.toBeNull();
    const others = await one.store.registerPrices('other prices', '{}');
    expect(others).not.toBe(priceId);
    expect(await one.store.registerPrices('new prices', '{"model":2}')).toBe(priceId);
    expect(await kinds(one, hold(3n, one, { priceId }), hold(4n, one, { priceId: others }))).toEqual(['held', 'held']);
    expect(await one.store.findReceipt(3n, 1n)).toMatchObject({ priceVersion: 'new prices' });
    expect(await one.store.findReceipt(4n, 1n)).toMatchObject({ priceVersion: 'other prices' });
  });

  it('writes neither of two names that have the same number, one in memory and one in the older state', async () => {
    const one = await begin();
    expect(await kinds(one, hold(1n, one, { amountNanousd: 9_999n }))).toEqual(['balance']);
    const { putBack } = await takeSnapshot(url);
    const newer = { requestedModel: 'a new name' };
    expect(await kinds(one, hold(1n, one, { ...newer, amountNanousd: 9_999n }))).toEqual(['balance']);
    const [row] = (await runSql(url, "SELECT id FROM name WHERE text = 'a new name'")).rows;
    await putBack(OTHERS_FIRST);
    const { rows } = await runSql(url, `SELECT text FROM name WHERE id = ${row.id}`);
    const batch = [hold(2n, one, newer), hold(3n, one, { requestedModel: rows[0].text })];
    await expect(one.store.apply(batch)).rejects.toThrow('names or price lists');
    expect((await runSql(url, 'SELECT count(*)::int AS calls FROM call')).rows).toEqual([{ calls: 0 }]);
  });

  it('writes neither of two price lists that have the same number, one in memory and one in the older state', async () => {
    const one = await begin();
    expect(await kinds(one, hold(1n, one, { amountNanousd: 9_999n }))).toEqual(['balance']);
    const { putBack } = await takeSnapshot(url);
    const priceId = await one.store.registerPrices('new prices', '{"model":2}');
    expect(await kinds(one, hold(1n, one, { priceId, amountNanousd: 9_999n }))).toEqual(['balance']);
    await putBack(OTHERS_FIRST);
    const others = await one.store.registerPrices('other prices', '{}');
    const batch = [hold(2n, one, { priceId }), hold(3n, one, { priceId: others })];
    await expect(one.store.apply(batch)).rejects.toThrow('names or price lists');
    expect((await runSql(url, 'SELECT count(*)::int AS calls FROM call')).rows).toEqual([{ calls: 0 }]);
    expect(await beat(one)).toContain('names or price lists');
    expect(await kinds(one, hold(4n, one, { priceId }), hold(5n, one, { priceId: others }))).toEqual(['held', 'held']);
    expect(await one.store.findReceipt(4n, 1n)).toMatchObject({ priceVersion: 'new prices' });
    expect(await one.store.findReceipt(5n, 1n)).toMatchObject({ priceVersion: 'other prices' });
  });

  it('registers a price list again if a hold needs it and the older state lacks it', async () => {
    const one = await begin();
    const { putBack } = await takeSnapshot(url);
    const priceId = await one.store.registerPrices('new prices', '{"model":2}');
    expect(await kinds(one, hold(1n, one, { priceId }))).toEqual(['held']);
    await putBack();
    expect(await beat(one)).not.toBeNull();
    expect(await kinds(one, hold(2n, one, { priceId }))).toEqual(['held']);
    expect(await one.store.findReceipt(2n, 1n)).toMatchObject({ priceVersion: 'new prices' });
  });

  it('is noticed by its rows if the server does not say who it is', async () => {
    const role = `plain_${process.pid}`;
    await runSql(url, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
    await runSql(url, 'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    const plain = new URL(url);
    plain.username = role;
    plain.searchParams.delete('options');
    const one = await begin(plain.href);
    expect(await beat(one)).toBeNull();
    plain.username = new URL(url).username;
    plain.searchParams.set('options', `-c search_path=${role}`);
    const owner = plain.href.replaceAll('+', '%20');
    const { putBack } = await takeSnapshot(owner);
    expect(await one.store.createAccount({ id: 1n, name: 'ada', kind: 'prepaid', createdMs: 0 })).toBe('created');
    expect(await kinds(one, aCredit(1n, 1_000n))).toEqual(['credited']);
    await putBack();
    expect(await beat(one)).toContain('commits that it had confirmed are missing');
    await one.store.close();
    await runSql(
      url,
      `GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC; DROP OWNED BY ${role}; DROP ROLE ${role}`,
    );
  });

  it('can be verified: a call without its price list or with an unknown name is reported', async () => {
    const one = await begin();
    expect(await kinds(one, hold(1n, one), hold(2n, one), hold(3n, one))).toEqual(['held', 'held', 'held']);
    await runSql(url, 'UPDATE call SET price_id = 99 WHERE id = 1; UPDATE call SET requested_model = 99 WHERE id = 2');
    expect((await one.store.verify()).violations).toEqual([
      'Call 1: its price list or one of its names does not exist.',
      'Call 2: its price list or one of its names does not exist.',
    ]);
  });

  it('is not suspected because of commits without a reply', async () => {
    const proxy = await startProxy(url);
    const one = await begin(proxy.url);
    expect(await kinds(one, hold(1n, one))).toEqual(['held']);
    for (const how of ['before', 'after', 'before'] as const) {
      proxy.cutNextCommit(how);
      await one.store.apply([aSettle(1n, 5n)]).catch(() => undefined);
      await until(async () => (await one.store.health()).ok, 'the store is up');
      expect(await beat(one)).toBeNull();
    }
    expect(proxy.cuts).toBe(3);
    expect(await kinds(one, hold(2n, one), aSettle(1n, 5n))).toEqual(['held', 'settle_repeated']);
    await one.store.close();
    proxy.close();
  });

  it('is not suspected while several connections commit', async () => {
    const one = await begin();
    const calls = Array.from({ length: 60 }, (_, at) => BigInt(at + 1));
    const beats = Array.from({ length: 20 }, () => one.store.heartbeat(one.life.epoch));
    const outcomes = await Promise.all(calls.map((id) => kinds(one, hold(id, one))));
    expect(outcomes.flat().every((kind) => kind === 'held')).toBe(true);
    expect((await Promise.all(beats)).every((answer) => answer !== null)).toBe(true);
    expect(await beat(one)).toBeNull();
  });
});

describe('a PostgreSQL server that is restored or replaced', () => {
  it('ends the registrations of its processes when its timeline changes, and is not suspected after a crash', async () => {
    const server = await startPostgres();
    const store = await openPostgresStore({ url: server.url(), clock: systemClock });
    try {
      await prepare(store);
      await store.apply([aCredit(1n, 1_000n), aHold(1n, 10n)]);
      await server.crash();
      await server.restart();
      await until(async () => (await store.health()).ok, 'the store is up');
      expect(await store.heartbeat(1n)).toEqual({ lastCallId: 1n });
      await server.crash();
      await server.restart('on a new timeline');
      await until(async () => (await store.health()).ok, 'the store is up');
      expect(await store.heartbeat(1n)).toBeNull();
      const again = await store.beginInstance();
      expect(again).toMatchObject({ replaced: expect.stringContaining('timeline'), voidedHolds: 1 });
      expect(await store.heartbeat(again.epoch)).toEqual({ lastCallId: 1n });
      expect(await store.apply([aSettle(1n, 5n)])).toEqual([{ kind: 'settle_found_void' }]);
    } finally {
      await store.close();
      await server.stop();
    }
  });
});
