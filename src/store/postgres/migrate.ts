import pg from 'pg';
import { LIMITS } from '../../limits.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import type { Migration } from '../migrations/migration.ts';
import { StoreRefused } from '../store.ts';
import { BEGIN, type Connections, type RunSql } from './connections.ts';
import { asked, asUnavailable, sqlState } from './faults.ts';
import { takeLock } from './locks.ts';
import { clientConfig } from './pipeline.ts';

/** Migrates unless that is done: to find out takes neither a lock nor a connection of its own. */
export async function migrateIfBehind(connections: Connections, url: string): Promise<void> {
  if ((await schemaOf(connections)) !== MIGRATIONS.length) await migrate(url);
}

/** Applies the missing migrations in one transaction, and returns their names. */
export async function migrate(
  url: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly Migration[]> {
  for (let tries = 1; ; tries += 1) {
    const applied = await inPatience(url, (sql) => applyMissing(sql, migrations), tries < LIMITS.postgresSchemaTries);
    if (applied !== null) return applied;
  }
}

async function applyMissing(sql: RunSql, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  // Another process that migrates may need hours.
  await takeLock(sql, 'schema');
  await sql(`SET LOCAL lock_timeout = ${LIMITS.postgresSchemaLockMs}`);
  const steps = pendingSteps((await schemaIn(sql)) ?? (await createMeta(sql)), migrations);
  for (const { number, postgres } of steps) {
    for (const statement of postgres.split(';\n')) if (statement.trim() !== '') await sql(statement);
    await sql("UPDATE meta SET value = $1 WHERE name = 'schema'", [number]);
  }
  return steps;
}

/**
 * Runs one transaction on its own connection, without a time limit: a migration may rewrite whole tables. Null if a table
 * was locked for too long and the transaction may be tried again.
 */
async function inPatience<Result>(
  url: string,
  run: (sql: RunSql) => Promise<Result>,
  mayTryAgain: boolean,
): Promise<Result | null> {
  const client = new pg.Client(clientConfig(url));
  // The pending query reports the loss.
  client.on('error', () => undefined);
  let statement = '';
  const sql: RunSql = async (text, values = []) => {
    statement = text;
    return (await asked(client.query(text, [...values]))).rows;
  };
  try {
    await asked(client.connect());
    await sql(BEGIN);
    for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
      await sql(`SET LOCAL ${limit} = 0`);
    }
    const result = await run(sql);
    await sql('COMMIT');
    return result;
  } catch (error) {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) throw mayNotMigrate(error as Error);
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw sqlState(error) === null ? error : asUnavailable(error);
    if (mayTryAgain) return null;
    const blocked = [LIMITS.postgresSchemaLockMs, statement, ALTERED.exec(statement)?.[1] ?? null];
    await sql('ROLLBACK');
    throw tablesInUse(await sql<Session>(LOCKING_SESSIONS, blocked), error as Error);
  } finally {
    // Closing the connection rolls back an open transaction.
    await client.end().catch(() => undefined);
  }
}

const SESSIONS_NAMED_MAX = 3;

/**
 * The table that the statement waits for until nobody uses it. It waits only for those who change the other tables that it
 * names, as foreign keys do; so do statements that create an index.
 */
const ALTERED = /^\s*(?:ALTER|DROP) (?:TABLE|INDEX) (?:IF EXISTS )?(?:ONLY )?(\w+)/i;

/**
 * Sessions that have held locks on the tables of the statement at least as long as we have waited. A role that may not see the
 * times of others finds all of them. Workers of PostgreSQL itself have no role and no name.
 */
const LOCKING_SESSIONS = `
  SELECT DISTINCT session.pid, session.usename AS role,
    coalesce(nullif(session.application_name, ''), session.backend_type) AS program
  FROM pg_locks AS lock
  JOIN pg_class AS place ON place.oid = lock.relation
  JOIN pg_stat_activity AS session ON session.pid = lock.pid
  WHERE lock.granted AND place.relnamespace = current_schema()::regnamespace
    AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND session.pid <> pg_backend_pid()
    AND $2::text ~ ('\\m' || place.relname || '\\M')
    AND (place.relname = $3 OR lock.mode NOT IN ('AccessShareLock', 'RowShareLock'))
    AND coalesce(session.xact_start, '-infinity') < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
  ORDER BY session.pid LIMIT ${SESSIONS_NAMED_MAX}`;

interface Session {
  readonly pid: number;
  readonly role: string | null;
  readonly program: string | null;
}

function tablesInUse(sessions: readonly Session[], cause: Error): StoreRefused {
  const named = sessions.map(({ pid, role, program }) => {
    const whose = role === null ? '' : ` of role ${role}`;
    return `${program ?? 'a program'}${whose}, process ${pid}`;
  });
  const who = named.length === 0 ? 'another session' : `another session (${named.join('; ')})`;
  const waited = (LIMITS.postgresSchemaLockMs * LIMITS.postgresSchemaTries) / 1000;
  const message = `The tables in PostgreSQL cannot be brought up to date: for ${waited} seconds ${who} has held locks on them. Nothing was changed. Wait until it has ended, or end it with pg_terminate_backend, and try again.`;
  return new StoreRefused(message, { cause });
}

const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';

function mayNotMigrate(cause: Error): StoreRefused {
  const message = `The tables in PostgreSQL are missing or older than this version needs, and this role may not change them: ${cause.message}. Run "tollgate store migrate" with the role that owns them, or is to own them.`;
  return new StoreRefused(message, { cause });
}

/** The last migration applied; null if there is no ledger yet. */
export function schemaOf(connections: Connections): Promise<number | null> {
  return schemaIn((text) => connections.query(text));
}

async function schemaIn(sql: RunSql): Promise<number | null> {
  const [found] = await sql<{ there: boolean }>("SELECT to_regclass('meta') IS NOT NULL AS there");
  if (!found!.there) return null;
  const [row] = await sql<{ value: bigint }>("SELECT value FROM meta WHERE name = 'schema'");
  return Number(row!.value);
}

/** Only if it is missing, because a role that may only read and write tables is not allowed to try. */
async function createMeta(sql: RunSql): Promise<number> {
  await sql('CREATE TABLE meta (name text PRIMARY KEY, value int8 NOT NULL)');
  await sql("INSERT INTO meta VALUES ('schema', 0), ('today_ms', 0), ('closed_up_to', 0)");
  return 0;
}

function pendingSteps(current: number, migrations: readonly Migration[]): readonly Migration[] {
  const latest = migrations.length;
  if (current <= latest) return migrations.slice(current);
  throw new StoreRefused(
    `This database was written by a newer version of Tollgate (schema ${current}; this version supports ${latest}). Start that version instead.`,
  );
}
