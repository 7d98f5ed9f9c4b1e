import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { MIGRATIONS } from '../src/store/migrations/index.ts';
import type { Migration } from '../src/store/migrations/migration.ts';
import { Connections } from '../src/store/postgres/connections.ts';
import { inspectPostgres, migratePostgres } from '../src/store/postgres/inspection.ts';
import { takeLock } from '../src/store/postgres/locks.ts';
import { migrate, schemaOf } from '../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { type Store, StoreMisnamed, StoreRefused } from '../src/store/store.ts';
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

describe('a URL that leads nowhere', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tollgate-url-')), 'cert.pem');
  writeFileSync(file, 'no certificate');
  afterAll(() => rmSync(join(file, '..'), { recursive: true }));

  it.each([
    ['a certificate that is not there', '?sslrootcert=/nope', 'ENOENT'],
    ['an invalid certificate', `?sslcert=${file}&sslkey=${file}`, 'PEM'],
    ['an invalid port', '?port=99999', 'the port must be a number from 1 to 65535'],
    ['a name that cannot be read', '%E0%A4%A', 'malformed'],
  ])('is refused before anybody is asked, without the URL: %s', async (_, rest, words) => {
    const url = `postgres://ada:hunter2@127.0.0.1:1/books${rest}`;
    for (const asking of [open(url), inspectPostgres(url, systemClock), migratePostgres(url)]) {
      const error: Error = await asking.then(
        () => new Error('it was opened'),
        (reason) => reason,
      );
      expect(error).toBeInstanceOf(StoreMisnamed);
      expect(error.message).toContain(words);
      expect(error.message).not.toContain('hunter2');
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
      expect(await migrate(url, [first])).toHaveLength(1);
      expect(await migrate(url, [first])).toHaveLength(0);
      await migrate(url, [first, step(2, 'DROP TABLE a'), step(3, 'CREATE TABLE c (x int4)')]);
      expect(await schemaOf(connections)).toBe(3);
    });
    expect(await tables(url)).toEqual(['b', 'c', 'meta']);
  });

  it('leave nothing of what fails', async () => {
    const url = await freshSchema();
    await withConnections(url, async (connections) => {
      const steps = [step(1, 'CREATE TABLE a (x int4)'), step(2, 'CREATE TABLE half (x int4);\nCREATE nonsense')];
      await expect(migrate(url, steps)).rejects.toThrow();
      expect(await schemaOf(connections)).toBeNull();
    });
    expect(await tables(url)).toEqual([]);
  });

  it('take as long as they take, whatever limit there is for questions', async () => {
    const url = (await freshSchema()).replace('options=', 'options=-c%20statement_timeout=50%20');
    const { postgresReadMs } = LIMITS;
    Object.assign(LIMITS, { postgresReadMs: 50 });
    try {
      const long = step(1, 'CREATE TABLE a (x int4);\nINSERT INTO a SELECT 1 FROM pg_sleep(0.5)');
      expect(await migrate(url, [long])).toEqual([long]);
    } finally {
      Object.assign(LIMITS, { postgresReadMs });
    }
    expect(await tables(url)).toEqual(['a', 'meta']);
  });

  describe('of a table that another session has locked', () => {
    const { postgresSchemaLockMs, postgresSchemaTries } = LIMITS;
    afterEach(() => void Object.assign(LIMITS, { postgresSchemaLockMs, postgresSchemaTries }));
    const steps = [step(1, 'CREATE TABLE a (x int4)'), step(2, 'ALTER TABLE a ADD COLUMN y int4')];

    /** Reads a table as pg_dump does, and keeps it from being changed until it ends. */
    async function dump(url: string): Promise<pg.Client> {
      await migrate(url, steps.slice(0, 1));
      const session = new pg.Client({ connectionString: url, application_name: 'pg_dump' });
      await session.connect();
      await session.query('BEGIN; LOCK TABLE a IN ACCESS SHARE MODE');
      return session;
    }

    it('give up after some attempts, change nothing, and name the session', async () => {
      const url = await freshSchema();
      const session = await dump(url);
      Object.assign(LIMITS, { postgresSchemaLockMs: 20, postgresSchemaTries: 3 });
      const error = await migrate(url, steps).catch((reason) => reason);
      expect(error).toBeInstanceOf(StoreRefused);
      const { rows } = await session.query('SELECT pg_backend_pid() AS pid, current_user AS role');
      expect(error.message).toContain(`another session (pg_dump of role ${rows[0].role}, process ${rows[0].pid})`);
      expect(await withConnections(url, schemaOf)).toBe(1);
      await session.end();
    });

    it('name no session that only uses other tables, or reads one that gets an index or is referred to', async () => {
      const url = await freshSchema();
      const session = await dump(url);
      await session.query('CREATE TABLE b (x int4)');
      await session.query('COMMIT; BEGIN; LOCK TABLE a IN ACCESS SHARE MODE');
      const writer = new pg.Client({ connectionString: url, application_name: 'writer' });
      await writer.connect();
      await writer.query('BEGIN; LOCK TABLE b IN ROW EXCLUSIVE MODE');
      Object.assign(LIMITS, { postgresSchemaLockMs: 20, postgresSchemaTries: 1 });
      const messageOf = (sql: string): Promise<string> =>
        migrate(url, [steps[0]!, step(2, sql)]).then(String, ({ message }) => message);
      expect(await messageOf('ALTER TABLE a ADD COLUMN y int4')).toMatch(/another session \(pg_dump of [^;]+\) has/);
      expect(await messageOf('ALTER TABLE b ADD COLUMN y int4')).toMatch(/another session \(writer of [^;]+\) has/);
      const reference = 'ALTER TABLE b ADD COLUMN y int4 REFERENCES a (x)';
      expect(await messageOf(reference)).toMatch(/another session \(writer of [^;]+\) has/);
      await session.query('LOCK TABLE b IN ACCESS SHARE MODE');
      expect(await messageOf('CREATE INDEX by_x ON b (x)')).toMatch(/another session \(writer of [^;]+\) has/);
      await session.end();
      await writer.end();
    });

    it('name a session by its program and process if it has no role', async () => {
      const url = await freshSchema();
      await migrate(url, steps.slice(0, 1));
      const [role, schema] = [`passing_${process.pid}`, /search_path(?:=|%3D)(\w+)/.exec(url)![1]!];
      await runSql(
        url,
        `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT SELECT ON a TO ${role}`,
      );
      const plain = new URL(url);
      plain.username = role;
      const session = new pg.Client({ connectionString: plain.href, application_name: 'visitor' });
      await session.connect();
      await session.query('BEGIN; SELECT * FROM a');
      const { rows } = await session.query('SELECT pg_backend_pid() AS pid');
      await runSql(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
      Object.assign(LIMITS, { postgresSchemaLockMs: 20, postgresSchemaTries: 1 });
      await expect(migrate(url, steps)).rejects.toThrow(`another session (visitor, process ${rows[0].pid})`);
      await session.end();
    });

    it('are made once the session has ended', async () => {
      const url = await freshSchema();
      const session = await dump(url);
      Object.assign(LIMITS, { postgresSchemaLockMs: 20, postgresSchemaTries: 1_000_000 });
      const migrating = migrate(url, steps);
      const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass';
      for (let look = 0, found = 0; found === 0 && look < 10_000; look++)
        found = (await session.query(waiting, ['a'])).rows.length;
      await session.end();
      expect(await migrating).toEqual(steps.slice(1));
    });
  });

  it('let keys of earlier versions go on changing provider keys', async () => {
    const url = await freshSchema();
    await migrate(url, MIGRATIONS.slice(0, 6));
    await runSql(url, "INSERT INTO account VALUES (1, 'ada', 1, 0)");
    await runSql(
      url,
      `INSERT INTO api_key (id, account_id, name, sha256, prefix, last_four, cap_window, created_ms, version)
       VALUES (7, 1, 'k', 's', 'p', 'f', 0, 0, 1)`,
    );
    const store = await open(url);
    expect((await store.findKey(7n))?.permissions).toEqual(['provider_keys']);
    await store.close();
  });

  it('are taken by one of many processes that start at once', async () => {
    const url = await freshSchema();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    expect(await withConnections(url, schemaOf)).toBe(MIGRATIONS.length);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('are not waited for by a process that finds them done', async () => {
    const url = await freshSchema();
    await (await open(url)).close();
    await withConnections(url, (connections) =>
      connections.transaction(async (sql) => {
        await takeLock(sql, 'schema');
        await (await open(url)).close();
      }),
    );
  });

  it('stop an older program in one sentence', async () => {
    const url = await freshSchema();
    await (await open(url)).close();
    await runSql(url, "UPDATE meta SET value = 99 WHERE name = 'schema'");
    expect(await refusalOf(open(url))).toBe(
      `This database was written by a newer version of Tollgate (schema 99; this version supports ${MIGRATIONS.length}). Start that version instead.`,
    );
  });
});
