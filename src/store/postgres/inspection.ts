import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { Connections } from './connections.ts';
import { migrate, schemaOf } from './migrate.ts';
import { checkUrl } from './pipeline.ts';
import { whyUnsafe } from './settings.ts';
import { NOW_MS } from './time.ts';

/** What there is to know about a database before it is trusted with books. */
export interface PostgresFacts {
  readonly version: string;
  /** Why it cannot be trusted with money, in one sentence; null if it can. */
  readonly unsafe: string | null;
  /** The step its tables stand at, null if there are none; and the last one this program knows. */
  readonly schema: number | null;
  readonly schemaKnown: number;
  /** Processes that were heard lately, and that were not. */
  readonly living: number;
  readonly silent: number;
  readonly roundTripMs: number;
  /** How far our clock is ahead of the database's. */
  readonly aheadMs: number;
}

/** Changes nothing. Throws a StoreUnavailable where nobody answers. */
export async function inspectPostgres(url: string, clock: Clock): Promise<PostgresFacts> {
  checkUrl(url);
  const connections = new Connections(url, clock, 1);
  try {
    const [server] = await connections.query<{ version: string }>(
      "SELECT current_setting('server_version') AS version",
    );
    const { roundTripMs, aheadMs } = await compareClocks(connections, clock);
    const schema = await schemaOf(connections);
    const lives = schema === null ? [] : await readLives(connections);
    return {
      version: server!.version,
      unsafe: await whyUnsafe(connections),
      schema,
      schemaKnown: MIGRATIONS.length,
      living: lives.filter(({ heard }) => heard).length,
      silent: lives.filter(({ heard }) => !heard).length,
      roundTripMs,
      aheadMs,
    };
  } finally {
    await connections.close();
  }
}

/** Brings the tables up to date; gives the names of the steps that were taken. */
export async function migratePostgres(url: string): Promise<string[]> {
  checkUrl(url);
  return (await migrate(url)).map(({ number, name }) => `${number} ${name}`);
}

const PROBES = 5;

/** The quickest of some questions tells most about the way, and about the other's clock. */
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

/** Those that said farewell are not missed. */
function readLives(connections: Connections): Promise<{ heard: boolean }[]> {
  return connections.query(
    `SELECT beat_at >= clock_timestamp() - $1::int8 * interval '1 millisecond' AS heard FROM instance
     WHERE state = 1 AND beat_at > '-infinity'`,
    [LIMITS.instanceDeadMs],
  );
}
