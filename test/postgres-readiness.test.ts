import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readStore } from '../src/config/store.ts';
import { type Harness, startHarness } from './harness.ts';
import { runSql, testDatabase } from './postgres.ts';
import { until } from './until.ts';

/** The advisory lock under which processes register: "toll" in four bytes, and its number among our locks. */
const REGISTERING = '1953459308, 4';
const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };

/** The role is not a superuser, as in production: PostgreSQL exempts superusers from limits. */
describe('the readiness of a gateway on PostgreSQL', () => {
  let admin: string;
  let role: string;
  let harness: Harness;
  let folder: string;
  let key: { authorization: string };

  beforeEach(async () => {
    admin = await testDatabase();
    role = `limited_${process.pid}_${Date.now().toString(36)}`;
    folder = mkdtempSync(join(tmpdir(), 'tollgate-ready-'));
    await runSql(admin, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
    const url = new URL(admin);
    url.username = role;
    harness = await startHarness({ hosted: true, folder, config: { store: readStore(url.href) } });
    key = { authorization: `Bearer ${(await harness.mint()).secret}` };
    expect((await harness.post(ASK, key)).status).toBe(200);
    expect((await harness.get('/readyz')).status).toBe(200);
  });

  afterEach(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
    await runSql(admin, `DROP SCHEMA ${role} CASCADE; DROP ROLE ${role}`);
  });

  const readiness = async () => {
    const response = await harness.get('/readyz');
    return { status: response.status, reason: ((await response.json()) as { reason?: string }).reason };
  };
  const isReady = async () => (await readiness()).status === 200;

  it('ends when the server has no connection left for it, and comes back with the first one', async () => {
    await runSql(admin, `ALTER ROLE ${role} CONNECTION LIMIT 0`);
    await runSql(admin, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await until(async () => !(await isReady()), 'it is not ready');
    expect((await harness.post(ASK, key)).status).toBe(503);
    await until(async () => /too many connections/.test((await readiness()).reason ?? ''), 'it says why');
    await runSql(admin, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
    await until(isReady, 'it is ready again');
    expect((await harness.post(ASK, key)).status).toBe(200);
  });

  it('ends while other processes take it for dead, and comes back when it has registered again', async () => {
    const other = new pg.Client({ connectionString: admin });
    await other.connect();
    await other.query(`SELECT pg_advisory_lock(${REGISTERING})`);
    await other.query(`UPDATE ${role}.instance SET state = 2 WHERE state = 1`);
    expect((await harness.post(ASK, key)).status).toBe(503);
    await until(async () => /declared this one dead/.test((await readiness()).reason ?? ''), 'it says why');
    expect(await isReady()).toBe(false);
    await other.end();
    await until(isReady, 'it is ready again');
    expect((await harness.post(ASK, key)).status).toBe(200);
    await harness.expectCleanBooks();
  });
});
