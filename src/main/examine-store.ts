import { type Finding, failure, ok, warning } from '../cli/finding.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../kit/clock.ts';
import { counted } from '../kit/counted.ts';
import type { Access } from '../store/postgres/access.ts';
import { CONNECTIONS_MAX } from '../store/postgres/connections.ts';
import { inspectPostgres, migratePostgres, type PostgresFacts } from '../store/postgres/inspection.ts';
import { StoreUnavailable } from '../store/store.ts';

type Place = NonNullable<Config['store']>;

/** Above these, the network path to the database or one of the clocks is at fault. */
const ROUND_TRIP_MS_MAX = 20;
const CLOCK_MS_MAX = 5_000;

/** Checks whether replicas can share this database; changes nothing in it. */
export async function examinePostgres({ url, name }: Place, clock: Clock): Promise<Finding[]> {
  try {
    return findingsOf(await inspectPostgres(url.reveal(), clock), name);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const why = error.message.replace(/^PostgreSQL: /, '');
    return [failure('server', `${name}: ${why}`, remedyFor(why))];
  }
}

/** By the words of PostgreSQL in English, and of Node. */
function remedyFor(why: string): string {
  if (why.includes('no encryption')) return 'add ?sslmode=verify-full to the URL; see docs/deploy.md';
  if (/certificate/i.test(why)) return 'name the root certificate with sslrootcert in the URL; see docs/deploy.md';
  if (why.endsWith('(53300)')) return 'it has no connection left: end some, or raise max_connections';
  return 'start it, or correct the URL in --store or TOLLGATE_STORE';
}

export function migrateDatabase({ url }: Place): Promise<string[]> {
  return migratePostgres(url.reveal());
}

function findingsOf(facts: PostgresFacts, name: string): Finding[] {
  return [
    ok('server', `${name}, version ${facts.version}`),
    facts.unsafe === null
      ? ok('durability', 'fsync, full_page_writes and synchronous_commit are on')
      : failure('durability', facts.unsafe, 'calls are refused until this is fixed'),
    facts.unfit === null ? ok('encoding', 'UTF8') : failure('encoding', facts.unfit, 'no replica starts until then'),
    facts.noTransactions === null
      ? ok('transactions', 'allowed')
      : failure('transactions', facts.noTransactions, 'let the pooler run in transaction mode'),
    judgeAccess(facts.access),
    judgeConnections(facts),
    // Without the right to read the tables, nothing is known about them.
    ...(facts.access.lacking.includes('meta') ? [] : [judgeSchema(facts), judgeReplicas(facts)]),
    judgeRoundTrip(facts),
    judgeClock(facts),
  ];
}

function judgeAccess({ role, standby, readOnly, lacking }: Access): Finding {
  if (standby)
    return failure('access', 'this server is a standby, which can only be read', 'name the primary in the URL');
  if (readOnly)
    return failure(
      'access',
      'transactions are read-only: default_transaction_read_only is on',
      'turn it off for the role, the database or the server',
    );
  if (lacking.length === 0) return ok('access', `role ${role}`);
  return failure(
    'access',
    `role ${role} may not read and write ${counted(lacking.length, 'table')}: ${lacking.slice(0, TABLES_NAMED_MAX).join(', ')}${lacking.length > TABLES_NAMED_MAX ? ' …' : ''}`,
    'run as their owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO …',
  );
}

const TABLES_NAMED_MAX = 5;

/** The first replica, or one more than those that run, needs room for at least one worker. */
function judgeConnections({ access, living }: PostgresFacts): Finding {
  const { connectionsMax, connectionsUsed } = access;
  const detail = `${connectionsMax} allowed, ${connectionsUsed} in use; each worker of a replica opens up to ${CONNECTIONS_MAX}`;
  if (connectionsMax >= CONNECTIONS_MAX * (living + 1)) return ok('connections', detail);
  return warning(
    'connections',
    detail,
    'raise max_connections, or the limit of the role or database; or put a pooler in transaction mode in front',
  );
}

function judgeSchema({ schema, schemaKnown, access }: PostgresFacts): Finding {
  if ((schema ?? 0) < schemaKnown && !access.mayMigrate)
    return failure(
      'schema',
      `${schema === null ? 'no tables yet' : `version ${schema}; this program needs ${schemaKnown}`}, and role ${access.role} may not create or change tables`,
      'run "tollgate store migrate" with the role that owns the tables',
    );
  if (schema === null)
    return warning('schema', 'no tables yet', 'the first start creates them, or run "tollgate store migrate"');
  const detail = `version ${schema}; this program needs ${schemaKnown}`;
  if (schema === schemaKnown) return ok('schema', detail);
  return schema < schemaKnown
    ? warning('schema', detail, 'tollgate store migrate')
    : failure('schema', detail, 'upgrade Tollgate to the version that wrote it');
}

function judgeReplicas({ living, silent }: PostgresFacts): Finding {
  if (silent === 0) return ok('replicas', `${living} running`);
  const detail = `${living} running, ${silent} not responding`;
  return warning(
    'replicas',
    detail,
    'after a few seconds, running replicas release the holds of those that do not respond',
  );
}

function judgeRoundTrip({ roundTripMs }: PostgresFacts): Finding {
  const detail = `${roundTripMs.toFixed(1)} ms`;
  if (roundTripMs <= ROUND_TRIP_MS_MAX) return ok('round trip', detail);
  return warning('round trip', detail, 'every call waits for four of them: run replicas near the database');
}

function judgeClock({ aheadMs }: PostgresFacts): Finding {
  const detail = `${Math.abs(Math.round(aheadMs))} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} the database`;
  return Math.abs(aheadMs) <= CLOCK_MS_MAX
    ? ok('clock', detail)
    : warning('clock', detail, 'synchronize both with NTP');
}
