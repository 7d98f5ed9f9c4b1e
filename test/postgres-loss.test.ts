import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { type Store, StoreUnavailable } from '../src/store/store.ts';
import { type EmptySchema, emptySchema } from './postgres.ts';
import { type PostgresProxy, startProxy } from './postgres-proxy.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

/** Longer timers fire at once. */
function afterAtMost(mostMs: number): Clock['after'] {
  return (ms, run, options) => systemClock.after(ms > mostMs ? 0 : ms, run, options);
}

describe('a PostgreSQL that goes away', () => {
  let schema: EmptySchema;
  let proxy: PostgresProxy;
  let store: Store;

  const kinds = async (...operations: Parameters<Store['apply']>[0]) =>
    (await store.apply(operations)).map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind));
  const isUp = async () => (await store.health()).ok;

  beforeEach(async () => {
    schema = await emptySchema();
    proxy = await startProxy(schema.url);
    store = await openPostgresStore({ url: proxy.url, clock: systemClock });
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n), aHold(1n, 100n)]);
  });

  afterEach(async () => {
    proxy.plugIn();
    await store.close();
    proxy.close();
    await schema.giveBack();
  });

  it('after it has committed: what it did is found out, not done again', async () => {
    proxy.cutNextCommit('after');
    expect(await kinds(aHold(2n, 50n), aHold(3n, 2_000n), aSettle(1n, 70n))).toEqual(['held', 'balance', 'settled']);
    proxy.cutNextCommit('after');
    expect(await kinds(aSettle(2n, 20n))).toEqual(['settled']);
    proxy.cutNextCommit('after');
    expect(await kinds(aCredit(9n, 5n))).toEqual(['credited']);
    proxy.cutNextCommit('after');
    expect(await kinds(aHold(4n, 9_999n))).toEqual(['balance']);
    expect(proxy.cuts).toBe(4);
    await until(isUp, 'the store to be up again');
    expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 915n, heldNanousd: 0n, spentNanousd: 90n });
    expect((await store.verify()).violations).toEqual([]);
  });

  it('before it has committed: nothing happened, and the caller gets an error that says so', async () => {
    proxy.cutNextCommit('before');
    await expect(store.apply([aHold(2n, 50n), aSettle(1n, 70n)])).rejects.toBeInstanceOf(StoreUnavailable);
    await until(isUp, 'the store to be up again');
    expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 1_000n, heldNanousd: 100n });
    expect(await kinds(aHold(2n, 50n), aSettle(1n, 70n))).toEqual(['held', 'settled']);
    expect((await store.verify()).violations).toEqual([]);
  });

  it('after it has committed, and for long: nothing is claimed, and the hold is given back in the end', async () => {
    const impatient = { ...systemClock, after: afterAtMost(LIMITS.postgresDoubtMs - 1) };
    const other = await openPostgresStore({ url: proxy.url, clock: impatient });
    proxy.cutNextCommit('after, and stay away');
    const idempotency = { key: 'order-1', bodySha256: Buffer.alloc(32) };
    const hold = aHold(2n, 50n, { idempotency });
    await expect(other.apply([hold, aSettle(1n, 70n)])).rejects.toBeInstanceOf(StoreUnavailable);
    proxy.plugIn();
    const state = async () => (await store.findReceipt(2n, 1n).catch(() => null))?.state;
    await until(async () => ![undefined, 'open'].includes(await state()), 'the hold to be given back');
    expect(await store.findReceipt(2n, 1n)).toMatchObject({ state: 'settled', costNanousd: 0n, lossNanousd: 0n });
    expect(await kinds(aSettle(1n, 70n), aSettle(2n, 50n))).toEqual(['settle_repeated', 'settle_repeated']);
    expect(await kinds(aHold(3n, 50n, { idempotency }), aSettle(3n, 0n))).toEqual(['held', 'settled']);
    expect(await store.verify()).toMatchObject({ openHolds: 0, violations: [] });
    await other.close();
  });

  it('between two parts of a batch: holds of the first part are reported, and the rest as unknown', async () => {
    const ledger = new Ledger({ store, clock: systemClock, epoch: 1n });
    const hold = (id: bigint) => {
      const { kind: _kind, epoch: _epoch, createdMs: _createdMs, ...request } = aHold(id, 50n);
      return ledger.hold(request);
    };
    // The id of the second is taken: all of them fail together, then come the first alone and the other two.
    proxy.cutNextCommit('before', 2);
    const [first, second, third] = await Promise.allSettled([hold(2n), hold(1n), hold(3n)]);
    expect(first).toEqual({ status: 'fulfilled', value: { kind: 'held' } });
    expect([second, third]).toMatchObject([
      { status: 'rejected', reason: expect.any(StoreUnavailable) },
      { status: 'rejected', reason: expect.any(StoreUnavailable) },
    ]);
    expect(proxy.cuts).toBe(1);
    await until(isUp, 'the store to be up again');
    expect((await ledger.settle(2n, aSettle(2n, 20n).settlement)).kind).toBe('settled');
    expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 980n, heldNanousd: 100n });
    await ledger.close();
  });

  it('for a while: everything is refused at once, one connection at a time asks, and then work goes on', async () => {
    proxy.unplug();
    await expect(store.apply([aHold(2n, 50n)])).rejects.toBeInstanceOf(StoreUnavailable);
    const before = proxy.attempts;
    for (let call = 0; call < 500; call++) {
      await expect(store.apply([aHold(3n, 50n)])).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(store.findAccount(1n)).rejects.toBeInstanceOf(StoreUnavailable);
    }
    expect(proxy.attempts - before).toBeLessThan(20);
    expect(await store.health()).toMatchObject({ ok: false, mayAdmit: false });
    await expect(store.heartbeat(1n)).rejects.toBeInstanceOf(StoreUnavailable);
    proxy.plugIn();
    await until(isUp, 'the store to be up again');
    expect(await kinds(aHold(2n, 50n), aSettle(1n, 70n))).toEqual(['held', 'settled']);
  });

  it('and says no word of the password of its URL', async () => {
    const secret = 'hunter2hunter2';
    const url = proxy.url.replace('tollgate@', `tollgate:${secret}@`);
    proxy.unplug();
    const error = await openPostgresStore({ url, clock: systemClock }).then(
      () => null,
      (failure: Error) => failure,
    );
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(JSON.stringify([error?.message, error?.stack, String(error?.cause)])).not.toContain(secret);
  });

  it('lets an operation that it cannot write fail alone', async () => {
    const outcomes = await kinds(
      aHold(2n, 10n),
      aSettle(2n, 5n, { lossNanousd: 2n ** 70n }),
      aHold(3n, 10n, { createdMs: 1.5 }),
      aHold(4n, 10n, { labels: { name: 'a\0b' }, requestedModel: 'zero \0 in it' }),
      aHold(2n ** 63n, 10n),
      aCredit(5n, 1n, { reference: 'zero \0 in it' }),
      aHold(6n, 10n, { idempotency: { key: 'zero \0 in it', bodySha256: Buffer.alloc(32) } }),
      aSettle(1n, 70n, { lossReason: 'zero \0 in it' }),
      aHold(1n, 10n),
      aCredit(8n, 1n, { reference: 'half a \ud800 pair' }),
      aHold(8n, 10n, { idempotency: { key: 'half a \ud800 pair', bodySha256: Buffer.alloc(32) } }),
      aHold(9n, 10n, { requestedModel: undefined as never }),
      aSettle(2n, 5n, { usage: { freshTokens: 'many' } as never }),
      aHold(7n, 10n, { requestedModel: 'long '.repeat(1_000) }),
    );
    const failed = 'operation_failed';
    const first = ['held', failed, failed, 'held', failed, failed, failed, 'settled', failed];
    expect(outcomes).toEqual([...first, failed, failed, failed, failed, 'held']);
    expect(await store.findReceipt(4n, 1n)).toMatchObject({ labels: { name: 'a\0b' } });
    expect(await store.findReceipt(1n, 1n)).toMatchObject({ lossReason: 'zero \uFFFD in it' });
    expect(await store.verify()).toMatchObject({ openHolds: 3, violations: [] });
  });
});
