import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import type { Store } from '../src/store/store.ts';
import { freshSchema, runSql } from './postgres.ts';
import { aCredit, aHold, aKey, anAccount, prepare } from './store-fixtures.ts';

/** "toll" in four bytes, and the number of the lock `keys`. */
const LOCK_OF_KEYS = '1953459308, 2';
const WAIT_MS = 20;
const WAITS_MAX = 500;

describe.each(['repeatable read', 'serializable'])('a database whose default isolation is %s', (isolation) => {
  let url: string;
  let stores: Store[];
  let other: pg.Client;

  beforeEach(async () => {
    const setting = ` -c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
    const withDefault = new URL(await freshSchema());
    withDefault.searchParams.set('options', withDefault.searchParams.get('options') + setting);
    url = withDefault.href.replaceAll('+', '%20');
    stores = [];
    for (let count = 0; count < 2; count++) stores.push(await openPostgresStore({ url, clock: systemClock }));
    other = new pg.Client({ connectionString: url });
    await other.connect();
  });

  afterEach(async () => {
    await other.end();
    await Promise.all(stores.map((store) => store.close()));
  });

  /** Begins the work while another transaction has a lock, and ends that one when all of it waits. */
  async function behindALock<Result>(lock: string, begin: () => Promise<Result>[]): Promise<Result[]> {
    await other.query(`BEGIN; ${lock}`);
    const { rows } = await other.query('SELECT pg_backend_pid() AS pid');
    const work = begin();
    let waiting = 0;
    for (let wait = 0; wait < WAITS_MAX && waiting < work.length; wait++) {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      const counted = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))';
      waiting = (await runSql(url, counted, [rows[0].pid])).rows[0].n;
    }
    await other.query('COMMIT');
    return Promise.all(work);
  }

  it('lets two processes create keys at once', async () => {
    await stores[0]!.createAccount(anAccount(1n));
    const created = await behindALock(`SELECT pg_advisory_xact_lock(${LOCK_OF_KEYS})`, () =>
      stores.map((store, at) => store.createKey(aKey(BigInt(at + 1), 1n))),
    );
    expect(created).toEqual(['created', 'created']);
  });

  it('holds money for a call although another process stores the name of its model at the same moment', async () => {
    const [store] = stores;
    await prepare(store!);
    await store!.apply([aCredit(50n, 10_000n)]);
    const [outcomes] = await behindALock("INSERT INTO name (text) VALUES ('vendor/new')", () => [
      store!.apply([aHold(100n, 1_000n, { requestedModel: 'vendor/new' })]),
    ]);
    expect(outcomes).toMatchObject([{ kind: 'held' }]);
  });

  it('does not make a heartbeat fail that waited for its row', async () => {
    const [store] = stores;
    const { epoch } = await store!.beginInstance();
    const [beat] = await behindALock('UPDATE instance SET started_at = started_at', () => [store!.heartbeat(epoch)]);
    expect(beat).not.toBeNull();
  });
});
