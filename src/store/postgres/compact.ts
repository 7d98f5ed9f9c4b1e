import pg from 'pg';
import { counted } from '../../kit/counted.ts';
import type { CompactReport } from '../compact.ts';
import { LEDGER_TABLES } from '../copy.ts';
import { StoreRefused, type VerifyProgress } from '../store.ts';
import { asked, asUnavailable, sqlState } from './faults.ts';
import { checkUrl, clientConfig } from './pipeline.ts';

/** What PostgreSQL itself checks: the owner of the table or of the database, or from version 17 on the right to maintain it. */
const REFUSED_TABLES = `
  SELECT name FROM unnest($1::text[]) AS name
  JOIN pg_class AS place ON place.oid = to_regclass(name)
  WHERE NOT pg_has_role(place.relowner, 'USAGE')
    AND NOT (SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database())
    AND NOT CASE WHEN current_setting('server_version_num')::int4 >= 170000
      THEN has_table_privilege(place.oid, 'MAINTAIN') ELSE false END`;

/** PostgreSQL only warns of a table that the role may not vacuum, in the language of the server. */
function mayNotVacuum(tables: readonly string[]): StoreRefused {
  const others = tables.length > 1 ? ` and ${counted(tables.length - 1, 'other')}` : '';
  return new StoreRefused(
    `This role may not vacuum the table ${tables[0]}${others}. Run "tollgate store compact" with the role that owns the tables.`,
  );
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
  const names = LEDGER_TABLES.map(({ name }) => name);
  const bytes = async (): Promise<number> => {
    const sum = 'SELECT sum(pg_total_relation_size(to_regclass(name))) AS bytes FROM unnest($1::text[]) AS name';
    const { rows } = await asked(client.query<{ bytes: string }>(sum, [names]));
    return Number(rows[0]!.bytes);
  };
  try {
    await asked(client.connect());
    await asked(client.query('SET statement_timeout = 0'));
    const refused = await asked(client.query<{ name: string }>(REFUSED_TABLES, [names]));
    if (refused.rows.length > 0) throw mayNotVacuum(refused.rows.map(({ name }) => name));
    const bytesBefore = await bytes();
    for (const [at, name] of names.entries()) {
      await asked(client.query(`VACUUM (ANALYZE) ${name}`));
      progress({ rowsRead: at + 1, rowsTotal: names.length });
    }
    return { bytesBefore, bytesAfter: await bytes() };
  } catch (error) {
    throw sqlState(error) === null ? error : asUnavailable(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
