import { runSql } from './postgres.ts';

/** A state of a ledger's tables that can be put back under running processes, whose connections stay open. */
interface Snapshot {
  /** Puts all tables back in one transaction, as a restore of a dump does, and runs this in the same transaction. */
  putBack(thenSql?: string): Promise<void>;
}

/** Keeps the tables of the URL's schema as they are now. */
export async function takeSnapshot(url: string): Promise<Snapshot> {
  const { rows } = await runSql(
    url,
    "SELECT schemaname AS schema, string_agg(tablename, ',') AS tables FROM pg_tables WHERE schemaname = current_schema() GROUP BY 1",
  );
  const { schema, tables } = rows[0] as { schema: string; tables: string };
  const names = tables.split(',').sort();
  const kept = `${schema}_kept_${++snapshots}`;
  const copies = names.map((name) => `CREATE TABLE ${kept}.${name} AS TABLE ${name};`);
  await runSql(url, `BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE SCHEMA ${kept}; ${copies.join(' ')} COMMIT`);
  const restores = names.map((name) => `INSERT INTO ${name} SELECT * FROM ${kept}.${name};`);
  return {
    putBack: (thenSql = '') =>
      untilNoDeadlock(() =>
        runSql(
          url,
          `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE ${names.join(', ')}; ${restores.join(' ')}
           SELECT setval(pg_get_serial_sequence('name', 'id'), coalesce(max(id), 0) + 1, false) FROM name;
           ${thenSql}; COMMIT`,
        ),
      ),
  };
}
let snapshots = 0;

const DEADLOCKS_MAX = 50;

/** Batches hold locks on some tables while they wait for others. */
async function untilNoDeadlock(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01' || attempt === DEADLOCKS_MAX) throw error;
    }
  }
}
