import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Finding } from '../src/cli/finding.ts';
import { systemClock } from '../src/kit/clock.ts';
import { compactStore } from '../src/main/compact-store.ts';
import { examinePostgres } from '../src/main/examine-store.ts';
import { migrate } from '../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { StoreRefused } from '../src/store/store.ts';
import { freshSchema, runSql, testDatabase } from './postgres.ts';

type Place = Parameters<typeof examinePostgres>[0];
const placeOf = (url: string) => ({ url: { reveal: () => url }, name: 'test' }) as unknown as Place;

async function failuresOf(url: string): Promise<Finding[]> {
  return (await examinePostgres(placeOf(url), systemClock)).filter(({ status }) => status === 'failure');
}

/** The same place with more settings of the session. */
const withSetting = (url: string, setting: string) => url.replace('options=', `options=-c%20${setting}%20`);

const roles: string[] = [];
afterAll(async () => {
  const url = await testDatabase();
  for (const role of roles) await runSql(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

/** The URL of a role that has these rights on the tables of a ledger, and may create none. */
async function withRights(owner: string, rights: string): Promise<{ url: string; role: string }> {
  const role = `tollgate_role_${process.pid}_${roles.length}`;
  await runSql(owner, `CREATE ROLE ${role}`);
  roles.push(role);
  const { rows } = await runSql(owner, 'SELECT current_schema() AS schema');
  await runSql(owner, `GRANT USAGE ON SCHEMA ${rows[0].schema} TO ${role}`);
  if (rights !== '') await runSql(owner, `GRANT ${rights} ON ALL TABLES IN SCHEMA ${rows[0].schema} TO ${role}`);
  return { url: withSetting(owner, `role=${role}`), role };
}

describe('a role that may only read and write the tables', () => {
  it('starts, is told by store migrate that nothing is to do, and passes store check', async () => {
    const owner = await freshSchema();
    await migrate(owner);
    const { url } = await withRights(owner, 'SELECT, INSERT, UPDATE, DELETE');
    expect(await migrate(url)).toEqual([]);
    await (await openPostgresStore({ url, clock: systemClock })).close();
    expect(await failuresOf(url)).toEqual([]);
  });

  it('is told who has to migrate where tables are missing', async () => {
    const { url, role } = await withRights(await freshSchema(), '');
    for (const attempt of [migrate(url), openPostgresStore({ url, clock: systemClock })]) {
      const error = await attempt.catch((reason) => reason);
      expect(error).toBeInstanceOf(StoreRefused);
      expect(error.message).toMatch(/permission denied for schema .* Run "tollgate store migrate" with the role that/);
    }
    expect(await failuresOf(url)).toMatchObject([
      { check: 'schema', detail: `no tables yet, and role ${role} may not create or change tables` },
    ]);
  });

  it('is told that it may not vacuum the tables, which PostgreSQL only warns of', async () => {
    const owner = await freshSchema();
    await migrate(owner);
    const { url } = await withRights(owner, 'SELECT, INSERT, UPDATE, DELETE');
    const terms = { store: placeOf(url), folder: '', progress: () => undefined };
    expect(await compactStore(terms, systemClock)).toMatchObject({
      refused: expect.stringMatching(
        /^This role may not vacuum the table \w+ and \d+ others\. Run "tollgate store compact" with the role that owns the tables/,
      ),
    });
  });
});

describe('store check', () => {
  it.each([
    ['SELECT', 'for a role that may only read'],
    ['', 'for a role that may do nothing'],
  ])('names tables that the role may not use: %s', async (rights) => {
    const owner = await freshSchema();
    await migrate(owner);
    const { url, role } = await withRights(owner, rights);
    expect(await failuresOf(url)).toMatchObject([
      {
        check: 'access',
        detail: expect.stringMatching(`^role ${role} may not read and write \\d+ tables: accepted_loss, account, `),
        remedy: expect.stringContaining('GRANT SELECT, INSERT, UPDATE, DELETE'),
      },
    ]);
  });

  it.each([
    ['28000', 'no pg_hba.conf entry for host "::1", user "ada", no encryption', 'add ?sslmode=verify-full'],
    ['53300', 'sorry, too many clients already', 'it has no connection left'],
    ['28P01', 'password authentication failed', 'correct the URL'],
  ])('says what to do if the server refuses the connection with %s', async (code, message, remedy) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(refusal(code, message)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await failuresOf(`postgres://ada@127.0.0.1:${port}/books`)).toMatchObject([
      { check: 'server', detail: expect.stringContaining(message), remedy: expect.stringContaining(remedy) },
    ]);
    server.close();
  });

  it('fails for a database that can only be read', async () => {
    const url = withSetting(await freshSchema(), 'default_transaction_read_only=on');
    expect(await failuresOf(url)).toMatchObject([{ check: 'access', detail: expect.stringContaining('read-only') }]);
  });

  it('warns of a role that may have fewer connections than a worker opens', async () => {
    const owner = await freshSchema();
    const { role } = await withRights(owner, '');
    await runSql(owner, `ALTER ROLE ${role} LOGIN PASSWORD 'pass' CONNECTION LIMIT 5`);
    const url = new URL(owner);
    [url.username, url.password] = [role, 'pass'];
    const findings = await examinePostgres(placeOf(url.href.replaceAll('+', '%20')), systemClock);
    expect(findings.find(({ check }) => check === 'connections')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/^5 allowed, \d+ in use; each worker of a replica opens up to 13$/),
    });
    expect(await examinePostgres(placeOf(owner), systemClock)).toContainEqual(
      expect.objectContaining({ check: 'connections', status: 'ok' }),
    );
  });

  it('counts the connections of every role, also for one that may not see what they do', async () => {
    const owner = await freshSchema();
    const { url } = await withRights(owner, '');
    const used = async (as: string) => {
      const findings = await examinePostgres(placeOf(as), systemClock);
      return /, (\d+) in use/.exec(findings.find(({ check }) => check === 'connections')!.detail)?.[1];
    };
    const others = await openPostgresStore({ url: owner, clock: systemClock });
    try {
      expect(Number(await used(url))).toBeGreaterThan(1);
    } finally {
      await others.close();
    }
  });

  it('fails behind a pooler that allows no transactions', async () => {
    const pooler = await startStatementPooler(await freshSchema());
    try {
      expect(await failuresOf(pooler.url)).toMatchObject([
        {
          check: 'transactions',
          detail: expect.stringContaining('transaction blocks not allowed in statement pooling mode'),
          remedy: 'let the pooler run in transaction mode',
        },
      ]);
    } finally {
      pooler.close();
    }
  });
});

it('refuses a database whose encoding cannot hold every text, and store check names it', async () => {
  const own = await testDatabase();
  const name = `${new URL(own).pathname.slice(1)}_latin`;
  await runSql(own, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
  const url = new URL(own);
  url.pathname = `/${name}`;
  try {
    await expect(openPostgresStore({ url: url.href, clock: systemClock })).rejects.toThrow(
      'The database has the encoding LATIN1, which cannot hold every text.',
    );
    expect(await failuresOf(url.href)).toMatchObject([{ check: 'encoding' }]);
  } finally {
    await runSql(own, `DROP DATABASE ${name}`);
  }
});

/** Ends the connection of a client that begins a transaction, as PgBouncer does in statement mode. */
async function startStatementPooler(url: string): Promise<{ url: string; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-statements-'));
  const sockets = new Set<Socket>();
  const target = join(new URL(url).searchParams.get('host')!, '.s.PGSQL.5432');
  const listener = createServer((client) => {
    const server = connect(target);
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined));
    client.on('data', (bytes) =>
      bytes.includes('BEGIN')
        ? client.end(refusal('08P01', 'transaction blocks not allowed in statement pooling mode'))
        : server.write(bytes),
    );
    client.on('close', () => server.destroy());
    server.pipe(client);
  });
  await new Promise<void>((resolve) => listener.listen(join(folder, '.s.PGSQL.5432'), resolve));
  const pooled = new URL(url);
  pooled.searchParams.set('host', folder);
  return {
    url: pooled.href.replaceAll('+', '%20'),
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true });
    },
  };
}

function refusal(code: string, message: string): Buffer {
  const fields = `SFATAL\0C${code}\0M${message}\0\0`;
  const head = Buffer.from('E....');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}
