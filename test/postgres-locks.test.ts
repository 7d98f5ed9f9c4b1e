import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { isDurable } from '../src/store/postgres/commit-marker.ts';
import { Connections } from '../src/store/postgres/connections.ts';
import { LOCK } from '../src/store/postgres/locks.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { type Store, StoreUnavailable } from '../src/store/store.ts';
import { type EmptySchema, emptySchema, runSql } from './postgres.ts';
import { aCredit, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

describe('a PostgreSQL that answers, but in which somebody holds a lock for long', () => {
  let schema: EmptySchema;
  let url: string;
  let store: Store;
  let other: pg.Client;

  beforeEach(async () => {
    schema = await emptySchema();
    url = schema.url;
    store = await openPostgresStore({ url, clock: systemClock });
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n)]);
    other = new pg.Client({ connectionString: url });
    await other.connect();
  });

  afterEach(async () => {
    await other.end();
    await store.close();
    await schema.giveBack();
  });

  /** Our sessions that wait for a lock, each with the time at which it began to wait. */
  const waiting = async (): Promise<{ pid: number; since: string }[]> => {
    const ours = "datname = current_database() AND application_name = 'tollgate' AND wait_event_type = 'Lock'";
    return (await runSql(url, `SELECT pid, query_start::text AS since FROM pg_stat_activity WHERE ${ours}`)).rows;
  };

  it('is not lost for a beat that waits, and nothing of ours goes on waiting there', async () => {
    await other.query('BEGIN; LOCK TABLE instance IN ACCESS EXCLUSIVE MODE');
    await expect(store.heartbeat(1n)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await waiting()).toEqual([]);
    expect(await store.health()).toMatchObject({ ok: true, mayAdmit: true });
    await other.query('COMMIT');
    expect(await store.heartbeat(1n)).toMatchObject({ lastCallId: 0n });
  });

  it('is asked again, on the same connection, what became of a commit', async () => {
    const connections = new Connections(url, systemClock, 1);
    await other.query('BEGIN; SELECT 1 FROM balance FOR UPDATE');
    const statement = { text: 'SELECT 1 FROM credit WHERE id = $1', values: [1n] };
    const durable = isDurable(connections, { accountId: 1n, statement });
    const seen = new Map<string, number>();
    const isAskedAgain = async () => {
      for (const { pid, since } of await waiting()) seen.set(since, pid);
      return seen.size > 1;
    };
    await until(isAskedAgain, 'it is asked again');
    expect(new Set(seen.values()).size).toBe(1);
    await other.query('COMMIT');
    expect(await durable).toBe(true);
    await connections.close();
  });

  it.each([
    ['closing', 'pg_advisory_lock_shared', (by: Store) => by.closeBooks(null)],
    ['verifying', 'pg_advisory_lock', (by: Store) => by.verify()],
  ])('is asked again, and not lost, while another process keeps it from %s', async (_, lock, run) => {
    onTestFinished(waitShortly());
    const impatient = await openPostgresStore({ url, clock: systemClock });
    onTestFinished(() => impatient.close());
    await other.query(`SELECT ${lock}(x'746f6c6c'::int, ${LOCK.bookkeeping})`);
    const running = run(impatient);
    const seen = new Set<string>();
    const isAskedForLonger = async () => {
      for (const { since } of await waiting()) seen.add(since);
      return seen.size > LIMITS.postgresReadMs / LIMITS.postgresLockMs + 1;
    };
    await Promise.race([running, until(isAskedForLonger, 'it was asked for longer than a reply may take')]);
    expect(await impatient.health()).toMatchObject({ ok: true, mayAdmit: true });
    await other.query('SELECT pg_advisory_unlock_all()');
    expect(await running).toBeDefined();
  });

  it('is not asked again by a store that is closed, so that its process can end', async () => {
    onTestFinished(waitShortly());
    const impatient = await openPostgresStore({ url, clock: systemClock });
    await other.query(`SELECT pg_advisory_lock_shared(x'746f6c6c'::int, ${LOCK.bookkeeping})`);
    const ended = impatient.closeBooks(null).catch((error: unknown) => error);
    await until(async () => (await waiting()).length > 0, 'it waits for the lock');
    await impatient.close();
    expect(await ended).toBeInstanceOf(StoreUnavailable);
    expect(await waiting()).toEqual([]);
  });
});

/** Stores that are opened meanwhile take a database without a reply for lost much sooner. */
function waitShortly(): () => void {
  const { postgresReadMs, postgresLockMs } = LIMITS;
  Object.assign(LIMITS, { postgresReadMs: 1_000, postgresLockMs: 100 });
  return () => void Object.assign(LIMITS, { postgresReadMs, postgresLockMs });
}
