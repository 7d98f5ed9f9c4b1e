import { LEDGER_TABLES } from '../copy.ts';
import type { Connections } from './connections.ts';

/** What the role of the URL may do in this database. */
export interface Access {
  readonly role: string;
  /** A standby, which can only be read. */
  readonly standby: boolean;
  readonly readOnly: boolean;
  /** Tables of the ledger that the role may not read and write. */
  readonly lacking: readonly string[];
  /** Whether the role may create tables and change those that are there. */
  readonly mayMigrate: boolean;
  /** Connections that the server, the database and the role allow, whichever is least, and those in use by anybody. */
  readonly connectionsMax: number;
  readonly connectionsUsed: number;
}

const TABLES = [...LEDGER_TABLES.map(({ name }) => name), 'instance', 'instance_commit', 'meta', 'request_count'];

/** Most roles see only the database of other roles' connections, and not their type. */
export async function readAccess(connections: Connections): Promise<Access> {
  const [access] = await connections.query<Access>(
    `WITH present AS (
       SELECT relname, oid, relowner FROM pg_class WHERE oid IN (SELECT to_regclass(name) FROM unnest($1::text[]) AS name)
     )
     SELECT current_user::text AS role,
       pg_is_in_recovery() AS standby,
       current_setting('transaction_read_only') = 'on' AS "readOnly",
       ARRAY(
         SELECT relname::text FROM present WHERE NOT (
           SELECT bool_and(has_table_privilege(oid, right_)) FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS right_
         ) ORDER BY relname
       ) AS lacking,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)
         AND NOT EXISTS (SELECT 1 FROM present WHERE NOT pg_has_role(relowner, 'USAGE')) AS "mayMigrate",
       (SELECT least(
          current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
            - coalesce(current_setting('reserved_connections', true), '0')::int4,
          CASE WHEN rolconnlimit < 0 OR rolsuper THEN NULL ELSE rolconnlimit END,
          CASE WHEN datconnlimit < 0 OR rolsuper THEN NULL ELSE datconnlimit END
        ) FROM pg_roles, pg_database WHERE rolname = session_user AND datname = current_database()) AS "connectionsMax",
       (SELECT count(*)::int4 FROM pg_stat_activity
        WHERE backend_type = 'client backend' OR (backend_type IS NULL AND datid IS NOT NULL)) AS "connectionsUsed"`,
    [TABLES],
  );
  return access!;
}
