import { KEY_PROVIDERS } from '../canonical/key-providers.ts';
import { CALL_STATE } from './codes.ts';
import { DAY_MS, HOUR_MS } from './time-spans.ts';
import { TIME_BOUNDS_MS, USAGE_DIMENSIONS, USAGE_KEY, type UsageDimension, type UsageSum } from './usage-dimensions.ts';

/** A table of sums over closed receipts, by hour or day of creation in UTC. */
export interface UsageTable {
  readonly name: 'usage_hour' | 'usage_day';
  readonly spanMs: number;
}

export const USAGE_HOUR: UsageTable = { name: 'usage_hour', spanMs: HOUR_MS };
export const USAGE_DAY: UsageTable = { name: 'usage_day', spanMs: DAY_MS };
export const USAGE_TABLES: readonly UsageTable[] = [USAGE_HOUR, USAGE_DAY];

/** Each sum, and how it is computed from calls. */
const SUMS = {
  requests: 'count(*)',
  fresh_tokens: 'coalesce(sum(fresh_tokens), 0)',
  cache_read_tokens: 'coalesce(sum(cache_read_tokens), 0)',
  cache_write_tokens: 'coalesce(sum(cache_write_tokens), 0)',
  cache_write_1h_tokens: 'coalesce(sum(cache_write_1h_tokens), 0)',
  output_tokens: 'coalesce(sum(output_tokens), 0)',
  reasoning_tokens: 'coalesce(sum(reasoning_tokens), 0)',
  cost: 'coalesce(sum(cost), 0)',
} as const satisfies Record<UsageSum, string>;

/** Percentiles cannot be added up, so times are counted in classes. A voided call did not end by itself and has none. */
export const TIMES = { first_byte: 'first_byte_ms', duration: '(ended_ms - created_ms)' } as const;
export type UsageTime = keyof typeof TIMES;

const CLASSES = [...TIME_BOUNDS_MS.keys(), TIME_BOUNDS_MS.length];

/** The columns of a time's classes, the shortest first. */
export function timeColumns(time: UsageTime): string[] {
  return CLASSES.map((at) => `${time}_${at}`);
}

function timeSums(time: UsageTime): [column: string, sql: string][] {
  const ms = TIMES[time];
  return CLASSES.map((at) => {
    const above = at === 0 ? `${ms} IS NOT NULL` : `${ms} >= ${TIME_BOUNDS_MS[at - 1]}`;
    const below = at === TIME_BOUNDS_MS.length ? '' : ` AND ${ms} < ${TIME_BOUNDS_MS[at]}`;
    return [`${time}_${at}`, `count(*) FILTER (WHERE state = ${CALL_STATE.of.settled} AND ${above}${below})`];
  });
}

const ALL_SUMS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SUMS),
  ...timeSums('first_byte'),
  ...timeSums('duration'),
]);

/** Every column that is a sum over receipts. */
export const SUM_COLUMNS: readonly string[] = [...ALL_SUMS.keys()];

/** The columns of a row that calls add. */
export const ADDED_COLUMNS: readonly string[] = [...USAGE_KEY, ...SUM_COLUMNS];

export function addOnConflict(table: UsageTable['name']): string {
  const added = SUM_COLUMNS.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `ON CONFLICT (${USAGE_KEY.join(', ')}) DO UPDATE SET ${added.join(', ')}`;
}

/** A column as the sum over calls that it is. */
export function sumOfCalls(column: string): string {
  return `${ALL_SUMS.get(column)} AS ${column}`;
}

/** The beginning of the span in which a call was created. */
export function startOfCall(spanMs: number): string {
  return `call.created_ms - call.created_ms % ${spanMs}`;
}

export function dimensionOfCall(dimension: UsageDimension): string {
  return dimension === 'effective_model' ? MODEL_OF_CALL : `coalesce(call.${dimension}, 0)`;
}

const KEY_PROVIDER_IDS = `SELECT id FROM name WHERE text IN (${KEY_PROVIDERS.map((name) => `'${name}'`).join(', ')})`;

/**
 * A caller's own deployment has any name that the caller sends, and calling it holds no money, so sums by its name would have
 * no bound. Its calls count under the name of the provider, which is their host, or under none if they reached no host.
 */
const MODEL_OF_CALL = `CASE WHEN call.held > 0 THEN call.effective_model WHEN call.host IS NULL THEN 0
  WHEN call.host IN (${KEY_PROVIDER_IDS}) THEN call.host ELSE call.effective_model END`;

/** Sums over calls by span and dimensions. The calls are those that meet the condition; open calls never do. */
export function sumsOfCalls(spanMs: number, sums: readonly string[], condition: string): string {
  const key = [startOfCall(spanMs), ...USAGE_DIMENSIONS.map(dimensionOfCall)];
  const selected = key.map((sql, at) => `${sql} AS ${USAGE_KEY[at]}`);
  return `SELECT ${[...selected, ...sums].join(', ')} FROM call
    WHERE ${condition} AND state <> ${CALL_STATE.of.open} GROUP BY ${key.join(', ')}`;
}
