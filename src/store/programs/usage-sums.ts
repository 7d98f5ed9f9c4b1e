import {
  ADDED_COLUMNS,
  addOnConflict,
  SUM_COLUMNS,
  sumOfCalls,
  sumsOfCalls,
  USAGE_TABLES,
  type UsageTable,
} from '../usage-columns.ts';
import { USAGE_KEY } from '../usage-dimensions.ts';
import { type Program, type Query, query, rowOf } from './program.ts';

/** Calls with `after < id <= upTo`. */
export interface IdSpan {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** The last call that the sums have. */
export function* usageUpTo(): Program<bigint> {
  const row = yield* rowOf<{ id: bigint }>('SELECT coalesce(max(added_up_to), 0) AS id FROM usage_state');
  return row!.id;
}

/**
 * Adds ended calls to the sums of their hour and day, inside of the database. False, without a change, if others have
 * to be added first.
 */
export function* addUsage({ after, upTo }: IdSpan): Program<boolean> {
  if ((yield* usageUpTo()) !== after) return false;
  for (const table of USAGE_TABLES) yield addTo(table, after, upTo);
  yield* noteUsageUpTo(upTo);
  return true;
}

export function* noteUsageUpTo(upTo: bigint): Program<void> {
  yield query(
    'INSERT INTO usage_state (id, added_up_to) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET added_up_to = excluded.added_up_to',
    upTo,
  );
}

function addTo({ name, spanMs }: UsageTable, after: bigint, upTo: bigint): Query {
  return query(
    `INSERT INTO ${name} (${ADDED_COLUMNS.join(', ')})
     ${sumsOfCalls(spanMs, SUM_COLUMNS.map(sumOfCalls), 'id > ? AND id <= ?')} ${addOnConflict(name)}`,
    after,
    upTo,
  );
}

/**
 * Before receipts are deleted: the sums stay, and note how many of their receipts are gone and what was refunded of these.
 * The rest can still be compared with the receipts that are kept.
 */
export function* keepUsage({ after, upTo }: IdSpan): Program<void> {
  for (const table of USAGE_TABLES) yield noteDeleted(table, after, upTo);
}

/** Days are the sums of their hours, so only hours are compared with receipts. */
const DELETED = {
  deleted_requests: 'count(*)',
  deleted_cost: 'sum(cost)',
  deleted_refunded: 'sum((SELECT coalesce(sum(amount), 0) FROM credit WHERE credit.call_id = call.id))',
} as const;
const NOTED: Readonly<Record<UsageTable['name'], readonly (keyof typeof DELETED)[]>> = {
  usage_hour: ['deleted_requests', 'deleted_cost', 'deleted_refunded'],
  usage_day: ['deleted_refunded'],
};

function noteDeleted({ name, spanMs }: UsageTable, after: bigint, upTo: bigint): Query {
  const noted = NOTED[name];
  const sums = noted.map((column) => `${DELETED[column]} AS ${column}`);
  const added = noted.map((column) => `${column} = ${name}.${column} + part.${column}`);
  const same = USAGE_KEY.map((column) => `${name}.${column} = part.${column}`);
  return query(
    `UPDATE ${name} SET ${added.join(', ')} FROM (${sumsOfCalls(spanMs, sums, 'id > ? AND id <= ?')}) AS part
     WHERE ${same.join(' AND ')}`,
    after,
    upTo,
  );
}
