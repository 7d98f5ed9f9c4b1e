import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { type Access, readAccess } from './access.ts';
import { Connections } from './connections.ts';
import { asUnavailable } from './faults.ts';
import { migrate, schemaOf } from './migrate.ts';
import { checkUrl } from './pipeline.ts';
import { whyUnfit, whyUnsafe } from './settings.ts';
import { NOW_MS } from './time.ts';

/** What to check about a database before it is used for a ledger. */
export interface PostgresFacts {
  readonly version: string;
  /** Why it is not safe for money, in one sentence; null if it is. */
  readonly unsafe: string | null;
  /** Why it cannot hold every text, in one sentence; null if it can. */
  readonly unfit: string | null;
  readonly access: Access;
  /** Why it allows no transaction, as a pooler may; null if it does. */
  readonly noTransactions: string | null;
  /** The last migration that was applied; null if there are no tables, or if they cannot be read. */
  readonly schema: number | null;
  /** The last migration that this version knows. */
  readonly schemaKnown: number;
  /** Processes with a recent heartbeat, and those without. */
  readonly living: number;
  readonly silent: number;
  readonly roundTripMs: number;
  /** How far our clock is ahead of the database's. */
  readonly aheadMs: number;
}

/** Read-only. Throws StoreUnavailable if the database does not answer. */
export async function inspectPostgres(url: string, clock: Clock): Promise<PostgresFacts> {
  checkUrl(url);
  const connections = new Connections(url, clock, 1);
  try {
    const [server] = await connections.query<{ version: string }>(
      "SELECT current_setting('server_version') AS version",
    );
    const { roundTripMs, aheadMs } = await compareClocks(connections, clock);
    const access = await readAccess(connections);
    const schema = access.lacking.includes('meta') ? null : await schemaOf(connections);
    const instances = schema === null || access.lacking.includes('instance') ? [] : await readInstances(connections);
    return {
      version: server!.version,
      unsafe: await whyUnsafe(connections),
      unfit: await whyUnfit(connections),
      access,
      schema,
      schemaKnown: MIGRATIONS.length,
      living: instances.filter(({ heard }) => heard).length,
      silent: instances.filter(({ heard }) => !heard).length,
      roundTripMs,
      aheadMs,
      // A pooler that refuses a transaction closes the connection, so nothing can be read after it.
      noTransactions: await whyNoTransactions(connections),
    };
  } finally {
    await connections.close();
  }
}

/** Applies the missing migrations and returns their names. */
export async function migratePostgres(url: string): Promise<string[]> {
  checkUrl(url);
  return (await migrate(url)).map(({ number, name }) => `${number} ${name}`);
}

async function whyNoTransactions(connections: Connections): Promise<string | null> {
  try {
    await connections.transaction((sql) => sql('SELECT 1'));
    return null;
  } catch (error) {
    return asUnavailable(error).message;
  }
}

const PROBES = 5;

/** The fastest of several queries measures the round trip and the clock difference best. */
async function compareClocks(
  connections: Connections,
  clock: Clock,
): Promise<{ roundTripMs: number; aheadMs: number }> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, aheadMs: 0 };
  for (let probe = 0; probe < PROBES; probe++) {
    const beganMs = clock.monotonicMs();
    const [time] = await connections.query<{ now_ms: bigint }>(`SELECT ${NOW_MS}`);
    const roundTripMs = clock.monotonicMs() - beganMs;
    const aheadMs = clock.nowMs() - roundTripMs / 2 - Number(time!.now_ms);
    if (roundTripMs < best.roundTripMs) best = { roundTripMs, aheadMs };
  }
  return best;
}

/** Instances that shut down properly do not count as missing. */
function readInstances(connections: Connections): Promise<{ heard: boolean }[]> {
  return connections.query(
    `SELECT beat_at >= clock_timestamp() - $1::int8 * interval '1 millisecond' AS heard FROM instance
     WHERE state = 1 AND beat_at > '-infinity'`,
    [LIMITS.instanceDeadMs],
  );
}
