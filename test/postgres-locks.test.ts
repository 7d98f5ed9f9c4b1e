import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { isDurable } from '../src/store/postgres/commit-marker.ts';
import { Connections } from '../src/store/postgres/connections.ts';
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
    expect(await store.heartbeat(1n)).toMatchObject({ closedUpTo: 0n });
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
});
