import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { percentileMs } from '../store/percentile.ts';
import { USAGE_SUMS, type UsageSum } from '../store/usage-dimensions.ts';
import { countsRefusals, type UsageBucket, type UsageRow } from '../store/usage-report.ts';
import type { ReadUsage, UsageMetric } from './usage-query.ts';

/** Figures that were not asked for are null. */
export interface UsageFigures {
  readonly requests: number | null;
  readonly fresh_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly cache_write_1h_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost_nanousd: bigint | null;
  /** What has been refunded for these calls so far. */
  readonly refunded_nanousd: bigint | null;
  /** Null, too, if the report is grouped by something that is not known of refused calls. */
  readonly refused: number | null;
  readonly first_byte_p50_ms: number | null;
  readonly first_byte_p95_ms: number | null;
  readonly duration_p50_ms: number | null;
  readonly duration_p95_ms: number | null;
}

/** Members that the report is not grouped by are null, and so are those that the calls do not have. */
export interface UsageRowView extends UsageFigures {
  /** When the bucket begins. */
  readonly start: number | null;
  readonly account: string | null;
  readonly account_name: string | null;
  readonly key: string | null;
  readonly key_name: string | null;
  readonly person: string | null;
  readonly person_email: string | null;
  readonly model: string | null;
  readonly route: string | null;
  readonly host: string | null;
  readonly chain: string | null;
  readonly label: string | null;
}

export interface UsageView {
  readonly object: 'usage';
  readonly since: number;
  readonly until: number;
  readonly bucket: UsageBucket;
  readonly group_by: readonly string[];
  readonly data: readonly UsageRowView[];
  readonly totals: UsageFigures;
}

export function usageView({ query, groupBy, metrics }: ReadUsage, rows: readonly UsageRow[]): UsageView {
  const isByChain = query.detail?.kind === 'chain';
  return {
    object: 'usage',
    since: query.sinceMs / 1000,
    until: query.untilMs / 1000,
    bucket: query.bucket,
    group_by: groupBy,
    data: rows.map((row) => ({ ...membersOf(row, isByChain), ...figuresOf(row, metrics) })),
    totals: figuresOf(totalOf(rows, countsRefusals(query)), metrics),
  };
}

function membersOf(row: UsageRow, isByChain: boolean): Omit<UsageRowView, keyof UsageFigures> {
  return {
    start: row.startMs === null ? null : row.startMs / 1000,
    account: idText(ACCOUNT_PREFIX, row.accountId),
    account_name: row.accountName,
    key: idText(KEY_PREFIX, row.keyId),
    key_name: row.keyName,
    person: idText(PERSON_PREFIX, row.personId),
    person_email: row.personEmail,
    model: row.model,
    route: row.route,
    host: row.host,
    chain: isByChain ? row.detail : null,
    label: isByChain ? null : row.detail,
  };
}

function idText(prefix: string, id: bigint | null): string | null {
  return id === null ? null : formatId(prefix, id);
}

type Summed = Pick<UsageRow, 'sums' | 'refunded' | 'refused' | 'firstByte' | 'duration'>;

function figuresOf(
  { sums, refunded, refused, firstByte, duration }: Summed,
  metrics: ReadonlySet<UsageMetric>,
): UsageFigures {
  const tokens = (sum: UsageSum): number | null => (metrics.has('tokens') ? Number(sums[sum]) : null);
  const time = (metric: UsageMetric, counts: readonly bigint[] | null, share: number): number | null =>
    metrics.has(metric) && counts !== null ? percentileMs(counts, share) : null;
  return {
    requests: metrics.has('requests') ? Number(sums.requests) : null,
    fresh_tokens: tokens('fresh_tokens'),
    cache_read_tokens: tokens('cache_read_tokens'),
    cache_write_tokens: tokens('cache_write_tokens'),
    cache_write_1h_tokens: tokens('cache_write_1h_tokens'),
    output_tokens: tokens('output_tokens'),
    reasoning_tokens: tokens('reasoning_tokens'),
    cost_nanousd: metrics.has('cost') ? sums.cost : null,
    refunded_nanousd: metrics.has('refunds') ? refunded : null,
    refused: metrics.has('refused') && refused !== null ? Number(refused) : null,
    first_byte_p50_ms: time('first_byte', firstByte, 0.5),
    first_byte_p95_ms: time('first_byte', firstByte, 0.95),
    duration_p50_ms: time('duration', duration, 0.5),
    duration_p95_ms: time('duration', duration, 0.95),
  };
}

function totalOf(rows: readonly UsageRow[], hasRefusals: boolean): Summed {
  const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
  const times = (counts: readonly (readonly bigint[] | null)[]): bigint[] =>
    counts.reduce<bigint[]>((total, each) => (each ?? []).map((count, at) => count + (total[at] ?? 0n)), []);
  const sums = USAGE_SUMS.map((name) => [name, sum(rows.map((row) => row.sums[name]))] as const);
  return {
    sums: Object.fromEntries(sums) as Record<UsageSum, bigint>,
    refunded: sum(rows.map(({ refunded }) => refunded)),
    refused: hasRefusals ? sum(rows.map(({ refused }) => refused ?? 0n)) : null,
    firstByte: times(rows.map(({ firstByte }) => firstByte)),
    duration: times(rows.map(({ duration }) => duration)),
  };
}
