import pg from 'pg';
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
export function migrate(url: string, migrations: readonly Migration[] = MIGRATIONS): Promise<readonly Migration[]> {
  return inPatience(url, async (sql) => {
    await takeLock(sql, 'schema');
    const steps = pendingSteps((await schemaIn(sql)) ?? (await createMeta(sql)), migrations);
    for (const { number, postgres } of steps) {
      for (const statement of postgres.split(';\n')) if (statement.trim() !== '') await sql(statement);
      await sql("UPDATE meta SET value = $1 WHERE name = 'schema'", [number]);
    }
    return steps;
  });
}

/** Runs one transaction on its own connection, without a time limit: a migration may rewrite whole tables. */
async function inPatience<Result>(url: string, run: (sql: RunSql) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(clientConfig(url));
  // The pending query reports the loss.
  client.on('error', () => undefined);
  const sql: RunSql = async (text, values = []) => (await asked(client.query(text, [...values]))).rows;
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
    throw sqlState(error) === null ? error : asUnavailable(error);
  } finally {
    // Closing the connection rolls back an open transaction.
    await client.end().catch(() => undefined);
  }
}

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
