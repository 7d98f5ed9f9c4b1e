import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { freshSchema, runSql } from './postgres.ts';
import { aCredit, aHold, aKey, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

it('admits calls while more reads than there are connections for wait for a lock', async () => {
  const url = await freshSchema();
  const store = await openPostgresStore({ url, clock: systemClock });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  try {
    await prepare(store);
    await store.createKey(aKey(7n, 1n));
    await store.apply([aCredit(50n, 10_000n)]);
    await other.query('BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE');
    const reads = Array.from({ length: LIMITS.postgresReadersMax }, () => store.jobs.find(1n, null));
    expect(await store.findKeyByHash(aKey(7n, 1n).sha256Hex)).toMatchObject({ id: 7n });
    expect(await store.keysChangedSince(0n)).toMatchObject({ keys: [{ id: 7n }] });
    expect(await store.health()).toEqual({ ok: true, reason: null, mayAdmit: true });
    const [outcome] = await store.apply([aHold(100n, 1_000n)]);
    expect(outcome).toMatchObject({ kind: 'held' });
    await other.query('COMMIT');
    expect(await Promise.all(reads)).toEqual(reads.map(() => null));
  } finally {
    await other.end();
    await store.close();
  }
});

it('leaves nothing waiting in the server for a read that it has given up', async () => {
  const { postgresReadMs } = LIMITS;
  onTestFinished(() => void Object.assign(LIMITS, { postgresReadMs }));
  const url = await freshSchema();
  await (await openPostgresStore({ url, clock: systemClock })).close();
  Object.assign(LIMITS, { postgresReadMs: 100 });
  const store = await openPostgresStore({ url, clock: systemClock });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  try {
    const { rows } = await other.query('SELECT pg_backend_pid() AS pid');
    await other.query('BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE');
    await expect(store.jobs.find(1n, null)).rejects.toThrow();
    const waiting = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))';
    await until(async () => (await runSql(url, waiting, [rows[0].pid])).rows[0].n === 0, 'nothing waits any more');
  } finally {
    await other.end();
    await store.close();
  }
});
