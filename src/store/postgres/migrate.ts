import { MIGRATIONS } from '../migrations/index.ts';
import type { Migration } from '../migrations/migration.ts';
import { StoreRefused } from '../store.ts';
import type { Connections, RunSql } from './connections.ts';
import { takeLock } from './locks.ts';

/** Brings the schema to the latest step this program knows, all in one transaction; says which steps were taken. */
export function migrate(
  connections: Connections,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly Migration[]> {
  return connections.transaction(async (sql) => {
    await takeLock(sql, 'schema');
    await sql('CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value int8 NOT NULL)');
    await sql("INSERT INTO meta VALUES ('schema', 0), ('today_ms', 0), ('closed_up_to', 0) ON CONFLICT DO NOTHING");
    const steps = pendingSteps(await readSchema(sql), migrations);
    for (const { number, postgres } of steps) {
      for (const statement of postgres.split(';\n')) if (statement.trim() !== '') await sql(statement);
      await sql("UPDATE meta SET value = $1 WHERE name = 'schema'", [number]);
    }
    return steps;
  });
}

/** The step the database stands at; null where there are no books yet. */
export async function schemaOf(connections: Connections): Promise<number | null> {
  const [found] = await connections.query<{ there: boolean }>("SELECT to_regclass('meta') IS NOT NULL AS there");
  return found!.there ? connections.transaction(readSchema) : null;
}

async function readSchema(sql: RunSql): Promise<number> {
  const [row] = await sql<{ value: bigint }>("SELECT value FROM meta WHERE name = 'schema'");
  return Number(row!.value);
}

function pendingSteps(current: number, migrations: readonly Migration[]): readonly Migration[] {
  const latest = migrations.length;
  if (current <= latest) return migrations.slice(current);
  throw new StoreRefused(
    `This database was written by a newer Tollgate (schema ${current}, this program knows ${latest}): start that version instead.`,
  );
}
