import type { Input } from '../../api/client.ts';
import type { UsageRow } from '../../api/generated/routes.ts';
import type { Choice } from '../../parts/field.tsx';
import { formatCount, formatMoney } from '../../parts/money-format.ts';
import { formatCountTick, formatDollarTick, NANOUSD_PER_DOLLAR } from '../../plots/axis-format.ts';
import type { Point } from '../../plots/series.ts';
import { DAY_SECONDS as DAY, dayOf, requestsOfDays } from '../../shell/custom-days.tsx';
import type { Search } from '../../shell/search.ts';

type Bucket = 'hour' | 'day' | 'week' | 'month';
export type Group = 'model' | 'key' | 'person' | 'account' | 'route' | 'host' | 'chain';

const HOUR = 3_600;

export const TIME_CHOICES: readonly (Choice & { readonly seconds: number | null; readonly bucket: Bucket })[] = [
  { value: '24h', label: '24 h', seconds: DAY, bucket: 'hour' },
  { value: '7d', label: '7 d', seconds: 7 * DAY, bucket: 'day' },
  { value: '30d', label: '30 d', seconds: 30 * DAY, bucket: 'day' },
  { value: '90d', label: '90 d', seconds: 90 * DAY, bucket: 'week' },
  { value: 'custom', label: 'Custom', seconds: null, bucket: 'day' },
];

const BUCKETS: readonly Choice<Bucket>[] = [
  { value: 'hour', label: 'hour' },
  { value: 'day', label: 'day' },
  { value: 'week', label: 'week' },
  { value: 'month', label: 'month' },
];

/** Hours of more than a week would be bars of a pixel or two, and too many rows for one report. */
const HOURS_MAX = 7 * DAY;

export function bucketsFor({ since, until }: Pick<UsageView, 'since' | 'until'>, nowSeconds: number): typeof BUCKETS {
  const isLong = (until ?? nowSeconds) - since > HOURS_MAX;
  return BUCKETS.filter(({ value }) => value !== 'hour' || !isLong);
}

interface Metric extends Choice {
  /** What one unit of the axis is. */
  readonly unit: bigint;
  valueOf(row: UsageRow): bigint;
  format(value: bigint): string;
  formatTick(value: number): string;
}

const counted = (value: string, label: string, read: (row: UsageRow) => number | null): Metric => ({
  value,
  label,
  unit: 1n,
  valueOf: (row) => BigInt(read(row) ?? 0),
  format: (count) => formatCount(Number(count)),
  formatTick: formatCountTick,
});

export const METRICS: readonly Metric[] = [
  {
    value: 'cost',
    label: 'Cost',
    unit: NANOUSD_PER_DOLLAR,
    valueOf: ({ cost_nanousd }) => cost_nanousd ?? 0n,
    format: formatMoney,
    formatTick: formatDollarTick,
  },
  counted('requests', 'Requests', ({ requests }) => requests),
  counted('input', 'Input tokens', inputTokens),
  counted('output', 'Output tokens', ({ output_tokens }) => output_tokens),
];

/** Everything that the model read: fresh, from the cache and into it. */
export function inputTokens(
  row: Pick<UsageRow, 'fresh_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens'>,
): number | null {
  const parts = [row.fresh_tokens, row.cache_read_tokens, row.cache_write_tokens, row.cache_write_1h_tokens];
  return parts.some((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

type Shape = 'bars' | 'lines' | 'table';

export const SHAPES: readonly Choice<Shape>[] = [
  { value: 'bars', label: 'Bars' },
  { value: 'lines', label: 'Lines' },
  { value: 'table', label: 'Table' },
];

export interface UsageView {
  readonly time: string;
  readonly since: number;
  readonly until: number | undefined;
  /** Whether the period ends before it begins, or has not begun. */
  readonly isEmpty: boolean;
  readonly bucket: Bucket;
  readonly group: Group;
  readonly metric: Metric;
  readonly shape: Shape;
  /** What the report takes, besides the account. */
  readonly filter: Pick<Input<'GET /usage'>, 'key' | 'model'>;
}

export function readUsageView(search: Search, groups: readonly Choice<Group>[], nowSeconds: number): UsageView {
  const time = TIME_CHOICES.find(({ value }) => value === search.range) ?? TIME_CHOICES[2]!;
  const asked = search.bucket ?? time.bucket;
  const unit = asked === 'hour' ? HOUR : DAY;
  const end = nowSeconds - (nowSeconds % unit) + unit;
  const from = dayOf(search.from);
  const to = dayOf(search.to);
  const since = time.seconds === null ? (from ?? end - 30 * DAY) : end - time.seconds;
  // Nothing has happened in the future, and a bar for each of its days would be too many.
  const until = time.seconds === null && to !== null && to + DAY < end ? to + DAY : undefined;
  return {
    time: time.value,
    since,
    until,
    isEmpty: since >= (until ?? end),
    bucket: bucketsFor({ since, until }, nowSeconds).find(({ value }) => value === asked)?.value ?? time.bucket,
    group: groups.find(({ value }) => value === search.by)?.value ?? 'model',
    metric: METRICS.find(({ value }) => value === search.metric) ?? METRICS[0]!,
    shape: SHAPES.find(({ value }) => value === search.shape)?.value ?? 'bars',
    filter: { key: search.key, model: search.model },
  };
}

/** The list of requests in the period of the report. */
export function requestsOfView({ time, since, until }: Pick<UsageView, 'time' | 'since' | 'until'>): Search {
  return time === '24h' ? { time } : requestsOfDays(since, until);
}

/** Owners read who their people are from the list of members; the report has addresses for operators only. */
type PersonNames = (id: string) => string;

/** What a row is about, and how it is called. */
export function nameOf(
  row: UsageRow,
  group: Group,
  personNames: PersonNames = (id) => id,
): { readonly name: string; readonly label: string } {
  const named = (name: string | null | undefined, label: string | null | undefined, none: string) => ({
    name: name ?? '',
    label: label ?? name ?? none,
  });
  if (group === 'key') return named(row.key, row.key_name, 'no key');
  if (group === 'person') {
    const known = row.person === null ? null : personNames(row.person);
    return named(row.person, row.person_email ?? known, 'nobody');
  }
  if (group === 'account') return named(row.account, row.account_name, 'no account');
  if (group === 'route') return named(row.route, row.route, 'no route');
  if (group === 'host') return named(row.host, row.host, 'no host');
  if (group === 'chain') return named(row.chain, row.chain, 'no chain');
  return named(row.model, row.model, 'no model');
}

export function pointsOf(
  rows: readonly UsageRow[],
  { group, metric }: UsageView,
  personNames: PersonNames,
): readonly Point[] {
  return rows.map((row) => ({ ...nameOf(row, group, personNames), start: row.start ?? 0, value: metric.valueOf(row) }));
}
