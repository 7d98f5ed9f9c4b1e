import pg from 'pg';
import type { CompactReport } from '../compact.ts';
import { LEDGER_TABLES } from '../copy.ts';
import { StoreRefused, type VerifyProgress } from '../store.ts';
import { asked, asUnavailable, sqlState } from './faults.ts';
import { checkUrl, clientConfig } from './pipeline.ts';

/** PostgreSQL only warns of a table that the role may not vacuum. Other warnings do not name the table. */
function isSkipped(table: string, warning: string | null): warning is string {
  return warning?.includes(`"${table}"`) ?? false;
}

function mayNotVacuum(warning: string): StoreRefused {
  return new StoreRefused(`PostgreSQL: ${warning}. Run "tollgate store compact" with the role that owns the tables.`);
}

/**
 * Lets PostgreSQL use the space of deleted rows again, table by table, while calls go on. Files become shorter only
 * where the space is at their end.
 */
export async function vacuumLedger(url: string, progress: (done: VerifyProgress) => void): Promise<CompactReport> {
  checkUrl(url);
  const client = new pg.Client(clientConfig(url));
  // The pending query reports the loss.
  client.on('error', () => undefined);
  const bytes = async (): Promise<number> => {
    const names = LEDGER_TABLES.map(({ name }) => name);
    const sum = 'SELECT sum(pg_total_relation_size(to_regclass(name))) AS bytes FROM unnest($1::text[]) AS name';
    const { rows } = await asked(client.query<{ bytes: string }>(sum, [names]));
    return Number(rows[0]!.bytes);
  };
  let warning: string | null = null;
  client.on('notice', ({ message }) => {
    warning = message ?? null;
  });
  try {
    await asked(client.connect());
    await asked(client.query('SET statement_timeout = 0'));
    const bytesBefore = await bytes();
    for (const [at, { name }] of LEDGER_TABLES.entries()) {
      await asked(client.query(`VACUUM (ANALYZE) ${name}`));
      if (isSkipped(name, warning)) throw mayNotVacuum(warning);
      progress({ rowsRead: at + 1, rowsTotal: LEDGER_TABLES.length });
    }
    return { bytesBefore, bytesAfter: await bytes() };
  } catch (error) {
    throw sqlState(error) === null ? error : asUnavailable(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
