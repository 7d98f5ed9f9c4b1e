import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { CAP_WINDOWS, DIED_REASON, type Instance, type Store } from '../src/store/store.ts';
import { type EmptySchema, emptySchema, runSql } from './postgres.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

describe('several processes on one PostgreSQL', () => {
  let schema: EmptySchema;
  let url: string;
  let stores: Store[];
  let lives: Instance[];

  const open = async (): Promise<Store> => {
    const store = await openPostgresStore({ url, clock: systemClock });
    stores.push(store);
    return store;
  };

  const begin = async (): Promise<{ store: Store; life: Instance }> => {
    const store = await open();
    const life = await store.beginInstance();
    lives.push(life);
    return { store, life };
  };

  /** As if that registration had been silent for this long, and had sent heartbeats for long enough before. */
  const silence = (epoch: bigint, ms: number) =>
    runSql(url, "UPDATE instance SET beat_at = beat_at - $2 * interval '1 millisecond' WHERE epoch = $1", [epoch, ms]);
  const heardFor = (epoch: bigint, ms: number) =>
    runSql(url, "UPDATE instance SET beating_since = beating_since - $2 * interval '1 millisecond' WHERE epoch = $1", [
      epoch,
      ms,
    ]);
  const kinds = async (store: Store, ...operations: Parameters<Store['apply']>[0]) =>
    (await store.apply(operations)).map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind));

  beforeEach(async () => {
    schema = await emptySchema();
    url = schema.url;
    stores = [];
    lives = [];
    const store = await open();
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n)]);
    await store.close();
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await schema.giveBack();
  });

  it("have numbers of their own, and keep each other's holds", async () => {
    const [one, two] = [await begin(), await begin()];
    await one.store.apply([aHold(1n, 100n, { epoch: one.life.epoch })]);
    const three = await begin();
    expect(three.life.voidedHolds).toBe(0);
    expect(new Set(lives.map(({ number }) => number)).size).toBe(3);
    expect(await kinds(two.store, aHold(2n, 900n, { epoch: two.life.epoch }))).toEqual(['held']);
    expect(await kinds(three.store, aHold(3n, 1n, { epoch: three.life.epoch }))).toEqual(['balance']);
    expect(await kinds(one.store, aSettle(1n, 60n))).toEqual(['settled']);
    expect(await kinds(three.store, aSettle(2n, 0n), aHold(3n, 940n, { epoch: three.life.epoch }))).toEqual([
      'settled',
      'held',
    ]);
    for (const { store } of [one, two, three]) {
      expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 940n, heldNanousd: 940n });
    }
  });

  it('cannot exceed the loss allowance of an account together', async () => {
    const lives = [await begin(), await begin(), await begin()];
    const calls = Array.from({ length: 30 }, (_, at) => ({ id: BigInt(at + 1), ...lives[at % 3]! }));
    for (const { store, life, id } of calls) await store.apply([aHold(id, 10n, { epoch: life.epoch })]);
    const ends = calls.map(({ store, id }) => kinds(store, { ...aSettle(id, 0n), lossLimitNanousd: 75n }));
    const outcomes = (await Promise.all(ends)).flat();
    expect(outcomes.filter((kind) => kind === 'settled')).toHaveLength(7);
    expect(outcomes.filter((kind) => kind === 'loss_allowance')).toHaveLength(23);
    expect(await lives[0]!.store.findAccount(1n)).toMatchObject({ lostNanousd: 70n, heldNanousd: 230n });
  });

  it('clear up at once after one that said farewell', async () => {
    const one = await begin();
    await one.store.apply([aHold(1n, 100n, { epoch: one.life.epoch })]);
    await one.store.close();
    const two = await begin();
    expect(two.life.voidedHolds).toBe(1);
    expect(await two.store.findReceipt(1n, 1n)).toMatchObject({ state: 'voided', lossReason: DIED_REASON });
  });

  it('declare dead who was silent too long, void its holds, and let it neither hold nor be charged', async () => {
    const [one, two] = [await begin(), await begin()];
    await one.store.apply([aHold(1n, 100n, { epoch: one.life.epoch })]);
    await silence(one.life.epoch, LIMITS.instanceDeadMs + 100);
    await heardFor(two.life.epoch, LIMITS.instanceDeadMs + 100);
    expect(await two.store.heartbeat(two.life.epoch)).toMatchObject({ lastCallId: 1n });
    expect(await two.store.reap()).toEqual({ voided: 1, stuck: null });
    expect(await two.store.reap()).toEqual({ voided: 0, stuck: null });
    expect(await one.store.heartbeat(one.life.epoch)).toBeNull();
    expect(await kinds(one.store, aHold(2n, 1n, { epoch: one.life.epoch }), aSettle(1n, 100n))).toEqual([
      'stale_epoch',
      'settle_found_void',
    ]);
    expect(await two.store.findAccount(1n)).toMatchObject({ balanceNanousd: 1_000n, heldNanousd: 0n });
    const again = await one.store.beginInstance();
    expect(await kinds(one.store, aHold(3n, 1n, { epoch: again.epoch }))).toEqual(['held']);
    expect(await two.store.verify()).toMatchObject({ openHolds: 1, violations: [] });
  });

  it('go on and clear up the rest, though a hold of a dead one cannot be voided', async () => {
    const one = await begin();
    await one.store.createAccount(anAccount(2n));
    await one.store.apply([aCredit(2n, 1_000n, { accountId: 2n })]);
    const hold = (id: bigint, accountId: bigint) => aHold(id, 100n, { epoch: one.life.epoch, accountId });
    await one.store.apply([hold(1n, 2n), hold(2n, 1n), hold(3n, 2n), hold(4n, 1n)]);
    await one.store.close();
    // An account with an inconsistent row: it holds less than its calls do.
    await runSql(url, 'UPDATE balance SET held = 99 WHERE account_id = 2');
    const two = await begin();
    expect(two.life.voidedHolds).toBe(2);
    expect(await kinds(two.store, aHold(5n, 1_000n, { epoch: two.life.epoch }))).toEqual(['held']);
    await heardFor(two.life.epoch, LIMITS.instanceDeadMs + 100);
    await two.store.heartbeat(two.life.epoch);
    const stuck = expect.stringMatching(/^2 holds of dead processes cannot be voided: call 1, /);
    expect(await two.store.reap()).toEqual({ voided: 0, stuck });
    await runSql(url, 'UPDATE balance SET held = 200 WHERE account_id = 2');
    expect(await two.store.reap()).toEqual({ voided: 2, stuck: null });
    expect(await two.store.verify()).toMatchObject({ openHolds: 1, violations: [] });
  });

  it('free nothing of a hold that cannot be voided, because its window is gone', async () => {
    const one = await begin();
    await one.store.createKey(aKey(7n, 1n));
    await one.store.apply([aHold(1n, 100n, { epoch: one.life.epoch, keyId: 7n })]);
    await one.store.close();
    await runSql(url, 'DELETE FROM key_window');
    const two = await begin();
    expect(await two.store.findAccount(1n)).toMatchObject({ balanceNanousd: 1_000n, heldNanousd: 100n });
    expect(await kinds(two.store, aHold(2n, 901n, { epoch: two.life.epoch }))).toEqual(['balance']);
  });

  it('begin a life whatever keeps them from clearing up after the one before', async () => {
    const [one, two] = [await begin(), await begin()];
    await one.store.apply([aHold(1n, 100n, { epoch: one.life.epoch })]);
    const impatient = { ...systemClock, after: afterAtMost(LIMITS.instanceSilentMs - 1) };
    const hasty = await openPostgresStore({ url, clock: impatient });
    stores.push(hasty);
    const before = await hasty.beginInstance();
    await hasty.apply([aHold(2n, 100n, { epoch: before.epoch })]);
    const letGo = await block(url, 'SELECT 1 FROM balance FOR UPDATE');
    const again = await hasty.beginInstance();
    expect(again.voidedHolds).toBe(0);
    expect([await hasty.heartbeat(before.epoch), await hasty.heartbeat(again.epoch)]).toEqual([
      null,
      { lastCallId: 2n },
    ]);
    await letGo();
    await until(
      async () => (await two.store.findReceipt(2n, 1n))?.state === 'voided',
      'the reaper or we void the hold',
    );
    expect(await kinds(hasty, aHold(3n, 900n, { epoch: again.epoch }))).toEqual(['held']);
  });

  it('delete the rows of those that ended long ago and hold nothing, and no others', async () => {
    const [long, lately, stuck, live] = [await begin(), await begin(), await begin(), await begin()];
    for (const [at, { store, life }] of [long, lately, stuck, live].entries())
      expect(await kinds(store, aHold(BigInt(at) + 1n, 10n, { epoch: life.epoch }))).toEqual(['held']);
    await long.store.close();
    await lately.store.close();
    await begin();
    const age = `UPDATE instance SET started_at = started_at - interval '91 days', beat_at = beat_at - interval '91 days'`;
    await runSql(url, `${age} WHERE epoch = ANY($1)`, [[long.life.epoch, stuck.life.epoch]]);
    await runSql(url, 'UPDATE instance SET state = 2 WHERE epoch = $1', [stuck.life.epoch]);
    const last = await begin();
    const { rows } = await runSql(url, 'SELECT epoch::int8 FROM instance ORDER BY epoch');
    expect(rows.map(({ epoch }) => BigInt(epoch))).not.toContain(long.life.epoch);
    const kept = [lately, stuck, live, last].map(({ life }) => life.epoch);
    expect(rows.map(({ epoch }) => BigInt(epoch))).toEqual(expect.arrayContaining(kept));
    const orphans = 'SELECT 1 FROM instance_commit WHERE token NOT IN (SELECT token FROM instance)';
    expect((await runSql(url, orphans)).rows).toEqual([]);
    expect(await live.store.heartbeat(live.life.epoch)).not.toBeNull();
    expect(last.life.epoch).toBeGreaterThan(live.life.epoch);
  });

  it('let the silent live until they have themselves been heard for as long', async () => {
    const [one, two] = [await begin(), await begin()];
    await one.store.apply([aHold(1n, 100n, { epoch: one.life.epoch })]);
    await silence(one.life.epoch, LIMITS.instanceDeadMs + 100);
    await two.store.heartbeat(two.life.epoch);
    expect(await two.store.reap()).toEqual({ voided: 0, stuck: null });
    expect(await one.store.heartbeat(one.life.epoch)).toMatchObject({ lastCallId: 1n });
    // A database that was unreachable has had no heartbeat from anybody, so the first process that reaches it again must not declare the others dead.
    await heardFor(two.life.epoch, 10 * LIMITS.instanceDeadMs);
    await silence(two.life.epoch, LIMITS.instanceDeadMs + 100);
    await silence(one.life.epoch, LIMITS.instanceDeadMs + 100);
    expect(await two.store.reap()).toEqual({ voided: 0, stuck: null });
    await two.store.heartbeat(two.life.epoch);
    expect(await two.store.reap()).toEqual({ voided: 0, stuck: null });
    expect(await kinds(one.store, aSettle(1n, 100n))).toEqual(['settled']);
  });

  it('wait for the batches of a life before they declare it dead', async () => {
    const [one, two] = [await begin(), await begin()];
    await silence(one.life.epoch, LIMITS.instanceDeadMs + 100);
    await heardFor(two.life.epoch, LIMITS.instanceDeadMs + 100);
    await two.store.heartbeat(two.life.epoch);
    // A third transaction has locked the account, so that the hold has passed the row of its instance but cannot continue.
    const letGo = await block(url, 'SELECT 1 FROM balance WHERE account_id = 1 FOR UPDATE');
    const hold = kinds(one.store, aHold(1n, 100n, { epoch: one.life.epoch }));
    await waiting(url, 'balance');
    const reaped = two.store.reap();
    await waiting(url, 'instance');
    await letGo();
    expect(await hold).toEqual(['held']);
    expect(await reaped).toEqual({ voided: 1, stuck: null });
    expect(await kinds(one.store, aHold(2n, 100n, { epoch: one.life.epoch }))).toEqual(['stale_epoch']);
  });

  it("count in the window that a key's cap had when the batch began, though another changes it meanwhile", async () => {
    const [one, two] = [await begin(), await begin()];
    await one.store.createKey(aKey(7n, 1n, { capNanousd: 500n, capWindow: 'lifetime' }));
    const hold = (id: bigint, amount: bigint) => aHold(id, amount, { epoch: one.life.epoch, keyId: 7n });
    await one.store.apply([hold(1n, 300n), aSettle(1n, 200n), hold(2n, 100n)]);
    // The batch has read the key, but not the windows.
    const letGo = await block(url, 'LOCK TABLE key_window IN ACCESS EXCLUSIVE MODE');
    const third = kinds(one.store, hold(3n, 50n));
    await waiting(url, 'key_window');
    const change = two.store.updateKey(7n, { capWindow: 'month' });
    await Promise.race([change, waiting(url, 'balance')]);
    await letGo();
    expect(await Promise.all([third, change])).toMatchObject([['held'], { capWindow: 'month' }]);
    expect(await two.store.keyWindow(7n)).toMatchObject({ window: 'month', spentNanousd: 0n, heldNanousd: 0n });
    await two.store.updateKey(7n, { capWindow: 'lifetime' });
    expect(await two.store.keyWindow(7n)).toMatchObject({ spentNanousd: 200n, heldNanousd: 150n });
    expect(await kinds(one.store, hold(4n, 151n), hold(5n, 150n))).toEqual(['key_cap', 'held']);
    expect((await one.store.verify()).violations).toEqual([]);
  });

  it('do not wait for each other in a circle, though both change keys of accounts that both spend from', async () => {
    const replicas = [await begin(), await begin()];
    await replicas[0]!.store.createAccount(anAccount(2n));
    await replicas[0]!.store.createKey(aKey(7n, 1n));
    await replicas[0]!.store.createKey(aKey(8n, 2n));
    await replicas[0]!.store.apply([aCredit(2n, 1_000n, { accountId: 2n })]);
    const rounds = replicas.map(async ({ store, life }, at) => {
      for (let round = 0; round < 30; round++) {
        const id = BigInt(100 + 4 * round + 2 * at);
        const holds = [aHold(id, 1n, { keyId: 7n }), aHold(id + 1n, 1n, { keyId: 8n, accountId: 2n })];
        if ((round + at) % 2 === 0) holds.reverse();
        const [outcomes] = await Promise.all([
          kinds(store, ...holds.map((hold) => ({ ...hold, epoch: life.epoch }))),
          store.updateKey(7n, { capWindow: CAP_WINDOWS[round % 4]! }),
          store.updateKey(8n, { capWindow: CAP_WINDOWS[(round + at) % 4]! }),
        ]);
        expect(outcomes).toEqual(['held', 'held']);
      }
    });
    await Promise.all(rounds);
    expect(await replicas[0]!.store.verify()).toMatchObject({ openHolds: 120, violations: [] });
  });

  it("admit together exactly what the balance and a key's cap allow", async () => {
    const replicas = [await begin(), await begin(), await begin()];
    await replicas[0]!.store.createAccount(anAccount(2n));
    await replicas[0]!.store.createKey(aKey(7n, 2n, { capNanousd: 130n }));
    await replicas[0]!.store.apply([aCredit(2n, 10_000n, { accountId: 2n })]);
    const hold = (at: number, over: Parameters<typeof aHold>[2]) => {
      const { store, life } = replicas[at % 3]!;
      return kinds(store, aHold(BigInt(at + 10), 10n, { epoch: life.epoch, ...over }));
    };
    const outcomes = await Promise.all(
      Array.from({ length: 240 }, (_, at) => hold(at, at % 2 === 0 ? {} : { accountId: 2n, keyId: 7n })),
    );
    const counts = new Map<string, number>();
    for (const [kind] of outcomes) counts.set(kind!, (counts.get(kind!) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({ held: 113, balance: 20, key_cap: 107 });
    expect(await replicas[1]!.store.verify()).toMatchObject({ openHolds: 113, violations: [] });
  });

  it("see each other's changes of keys, in order and without a gap", async () => {
    const [one, two] = [await open(), await open()];
    const ids = Array.from({ length: 24 }, (_, at) => BigInt(at + 100));
    let seen = 0n;
    const found: bigint[] = [];
    const poll = async () => {
      const { version, keys } = await two.keysChangedSince(seen);
      seen = version;
      found.push(...keys.map((key) => key.id));
    };
    const made = ids.map((id, at) => (at % 2 === 0 ? one : two).createKey(aKey(id, 1n)));
    while (found.length < ids.length) await poll();
    await Promise.all(made);
    expect(new Set(found)).toEqual(new Set(ids));
    await one.updateKey(100n, { revokedMs: 5 });
    await poll();
    expect(found.at(-1)).toBe(100n);
  });

  it('agree on price lists and names, whoever comes first', async () => {
    const [one, two] = [await begin(), await begin()];
    const numbers = await Promise.all([one, two, one, two].map(({ store }) => store.registerPrices('new', '{}')));
    expect(new Set(numbers).size).toBe(1);
    const hold = ({ store, life }: typeof one, id: bigint) =>
      kinds(store, aHold(id, 1n, { epoch: life.epoch, requestedModel: 'never seen', priceId: numbers[0]! }));
    expect(await Promise.all([hold(one, 1n), hold(two, 2n)])).toEqual([['held'], ['held']]);
    expect(await one.store.findReceipt(2n, 1n)).toMatchObject({ requestedModel: 'never seen', priceVersion: 'new' });
  });
});

/** Longer timers fire at once. */
function afterAtMost(mostMs: number): Clock['after'] {
  return (ms, run, options) => systemClock.after(ms > mostMs ? 0 : ms, run, options);
}

/** Holds those locks in a transaction of its own until the returned function is called. */
async function block(url: string, sql: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`BEGIN; ${sql}`);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

/** Until some statement that names the table waits for a lock. */
async function waiting(url: string, table: string): Promise<void> {
  for (;;) {
    const { rows } = await runSql(
      url,
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1",
      [`%FROM ${table}%`],
    );
    if (rows.length > 0) return;
  }
}
