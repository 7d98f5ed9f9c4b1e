import type { Finding } from '../cli/finding.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../kit/clock.ts';
import { inspectPostgres, migratePostgres, type PostgresFacts } from '../store/postgres/inspection.ts';
import { StoreUnavailable } from '../store/store.ts';

type Place = NonNullable<Config['store']>;

/** Beyond these something is wrong: with the way to the database, or with one of the two clocks. */
const ROUND_TRIP_MS_MAX = 20;
const CLOCK_MS_MAX = 5_000;

/** What would keep replicas from working on this database; nothing in it is changed. */
export async function examinePostgres({ url, name }: Place, clock: Clock): Promise<Finding[]> {
  try {
    return findingsOf(await inspectPostgres(url.reveal(), clock), name);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return [failure('server', `${name}: ${error.message}`, 'start it, or name another with --store')];
  }
}

export function migrateDatabase({ url }: Place): Promise<string[]> {
  return migratePostgres(url.reveal());
}

function findingsOf(facts: PostgresFacts, name: string): Finding[] {
  return [
    ok('server', `${name}, version ${facts.version}`),
    facts.unsafe === null
      ? ok('durability', 'fsync, full_page_writes and synchronous_commit are on')
      : failure('durability', facts.unsafe, 'no call is served on it until then'),
    judgeSchema(facts),
    judgeReplicas(facts),
    judgeRoundTrip(facts),
    judgeClock(facts),
  ];
}

function judgeSchema({ schema, schemaKnown }: PostgresFacts): Finding {
  if (schema === null)
    return warning('schema', 'no books yet', 'tollgate store migrate, or the first start, makes them');
  const detail = `step ${schema}; this program knows ${schemaKnown}`;
  if (schema === schemaKnown) return ok('schema', detail);
  return schema < schemaKnown
    ? warning('schema', detail, 'tollgate store migrate')
    : failure('schema', detail, 'start the newer program that wrote it');
}

function judgeReplicas({ living, silent }: PostgresFacts): Finding {
  if (silent === 0) return ok('replicas', `${living} living`);
  const detail = `${living} living, ${silent} silent`;
  return warning('replicas', detail, 'a replica that has run for some seconds gives back the holds of silent ones');
}

function judgeRoundTrip({ roundTripMs }: PostgresFacts): Finding {
  const detail = `${roundTripMs.toFixed(1)} ms`;
  if (roundTripMs <= ROUND_TRIP_MS_MAX) return ok('round trip', detail);
  return warning('round trip', detail, 'every call waits for four of them: move replicas and database together');
}

function judgeClock({ aheadMs }: PostgresFacts): Finding {
  const detail = `${Math.abs(Math.round(aheadMs))} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} the database's`;
  return Math.abs(aheadMs) <= CLOCK_MS_MAX ? ok('clock', detail) : warning('clock', detail, 'let both follow NTP');
}

function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, remedy: null };
}

function warning(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'warning', detail, remedy };
}

function failure(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'failure', detail, remedy };
}
