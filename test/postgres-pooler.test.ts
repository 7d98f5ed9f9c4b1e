import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { StoreUnavailable } from '../src/store/store.ts';
import { ledgerScripts } from './ledger-scripts.ts';
import { emptySchema, freshSchema } from './postgres.ts';
import type { OpenStore } from './store-fixtures.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';
import { startPooler } from './transaction-pooler.ts';

const openPooled: OpenStore = async (clock) => {
  const schema = await emptySchema();
  const pooler = await startPooler(schema.url);
  let store = await openPostgresStore({ url: pooler.url, clock, databaseTime: false });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openPostgresStore({ url: pooler.url, clock, databaseTime: false });
      return store;
    },
    dispose: async () => {
      await store.close();
      pooler.close();
      await schema.giveBack();
    },
  };
};

ledgerScripts('postgres behind a transaction pooler', openPooled);

describe('a store behind a transaction pooler', () => {
  it('keeps its books under load with fewer server connections than its own', async () => {
    const pooler = await startPooler(await freshSchema(), 3);
    const stores = await Promise.all(
      [1, 2].map(() => openPostgresStore({ url: pooler.url, clock: systemClock, lines: 4 })),
    );
    const [one, two] = stores as [(typeof stores)[0], (typeof stores)[0]];
    await prepare(one);
    const { epoch } = await two.beginInstance();
    await one.apply([aCredit(1n, 10_000n)]);
    const work = Array.from({ length: 60 }, async (_, at) => {
      const [store, id] = [at % 2 === 0 ? one : two, BigInt(at + 1)];
      const [held] = await store.apply([aHold(id, 100n, { epoch: at % 2 === 0 ? 1n : epoch })]);
      expect(held).toEqual({ kind: 'held' });
      await Promise.all([store.findReceipt(id, 1n), store.heartbeat(epoch), store.health()]);
      expect(await store.apply([aSettle(id, 60n)])).toEqual([{ kind: 'settled' }]);
    });
    await Promise.all(work);
    expect(await one.findAccount(1n)).toMatchObject({ balanceNanousd: 6_400n, heldNanousd: 0n, spentNanousd: 3_600n });
    expect(await two.verify()).toMatchObject({ receipts: 60, openHolds: 0, violations: [] });
    await Promise.all(stores.map((store) => store.close()));
    pooler.close();
  });

  it('gives up a beat that waits for a lock, and leaves no trace of that in the connections it shares', async () => {
    const url = await freshSchema();
    const pooler = await startPooler(url, 1);
    const store = await openPostgresStore({ url: pooler.url, clock: systemClock });
    await prepare(store);
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    await blocker.query('BEGIN; SELECT 1 FROM instance FOR UPDATE');
    await expect(store.heartbeat(1n)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await store.health()).toMatchObject({ ok: true });
    expect(await store.apply([aCredit(1n, 1_000n)])).toEqual([{ kind: 'credited', balanceNanousd: 1_000n }]);
    await blocker.query('COMMIT');
    await blocker.end();
    expect(await store.heartbeat(1n)).toMatchObject({ lastCallId: 0n });
    const pooled = new pg.Client({ connectionString: pooler.url });
    await pooled.connect();
    expect((await pooled.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
    expect((await pooled.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '0' }]);
    await pooled.end();
    await store.close();
    pooler.close();
  });
});
