import { describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { MIGRATIONS } from '../src/store/migrations/index.ts';
import type { Migration } from '../src/store/migrations/migration.ts';
import { Connections } from '../src/store/postgres/connections.ts';
import { migrate, schemaOf } from '../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import type { Store } from '../src/store/store.ts';
import { freshSchema, runSql } from './postgres.ts';
import { startPostgres } from './postgres-server.ts';

const open = (url: string): Promise<Store> => openPostgresStore({ url, clock: systemClock });

async function refusalOf(opening: Promise<Store>): Promise<string> {
  return opening.then(
    async (store) => {
      await store.close();
      return 'opened';
    },
    (error: Error) => error.message,
  );
}

describe('a server that could forget', () => {
  it('is refused with the name of the setting', async () => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      const server = await startPostgres(`${setting} = off`);
      try {
        expect(await refusalOf(open(server.url()))).toContain(`${setting} = off`);
      } finally {
        await server.stop();
      }
    }
  });

  it('admits nobody any more, once it becomes one', async () => {
    const server = await startPostgres();
    try {
      const store = await open(server.url());
      expect(await store.health()).toEqual({ ok: true, reason: null, mayAdmit: true });
      await runSql(server.url(), 'ALTER SYSTEM SET fsync = off');
      await runSql(server.url(), 'SELECT pg_reload_conf()');
      let health = await store.health();
      while (health.mayAdmit) health = await store.health();
      expect(health).toMatchObject({ ok: true, reason: expect.stringContaining('fsync = off') });
      await store.close();
    } finally {
      await server.stop();
    }
  });
});

describe('migrations on PostgreSQL', () => {
  const step = (number: number, postgres: string): Migration => ({ number, name: `${number}`, sqlite: '', postgres });

  async function withConnections<Result>(url: string, use: (connections: Connections) => Promise<Result>) {
    const connections = new Connections(url, systemClock, LIMITS.postgresLedgerLines);
    try {
      return await use(connections);
    } finally {
      await connections.close();
    }
  }

  const tables = async (url: string): Promise<string[]> => {
    const { rows } = await runSql(
      url,
      'SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
    );
    return rows.map((row) => row.tablename);
  };

  it('run once each, in order, from where the database stands', async () => {
    const url = await freshSchema();
    await withConnections(url, async (connections) => {
      const first = step(1, 'CREATE TABLE a (x int4);\nCREATE TABLE b (x int4);\n');
      expect(await schemaOf(connections)).toBeNull();
      expect(await migrate(connections, [first])).toHaveLength(1);
      expect(await migrate(connections, [first])).toHaveLength(0);
      await migrate(connections, [first, step(2, 'DROP TABLE a'), step(3, 'CREATE TABLE c (x int4)')]);
      expect(await schemaOf(connections)).toBe(3);
    });
    expect(await tables(url)).toEqual(['b', 'c', 'meta']);
  });

  it('leave nothing of what fails', async () => {
    const url = await freshSchema();
    await withConnections(url, async (connections) => {
      const steps = [step(1, 'CREATE TABLE a (x int4)'), step(2, 'CREATE TABLE half (x int4);\nCREATE nonsense')];
      await expect(migrate(connections, steps)).rejects.toThrow();
      expect(await schemaOf(connections)).toBeNull();
    });
    expect(await tables(url)).toEqual([]);
  });

  it('are taken by one of many processes that start at once', async () => {
    const url = await freshSchema();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    expect(await withConnections(url, schemaOf)).toBe(MIGRATIONS.length);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('stop an older program in one sentence', async () => {
    const url = await freshSchema();
    await (await open(url)).close();
    await runSql(url, "UPDATE meta SET value = 99 WHERE name = 'schema'");
    expect(await refusalOf(open(url))).toBe(
      `This database was written by a newer Tollgate (schema 99, this program knows ${MIGRATIONS.length}): start that version instead.`,
    );
  });
});
