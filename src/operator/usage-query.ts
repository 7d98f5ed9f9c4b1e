import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { HOUR_MS, startOf } from '../store/time-spans.ts';
import type { UsageDimension } from '../store/usage-dimensions.ts';
import {
  USAGE_BUCKETS,
  type UsageBucket,
  type UsageDetail,
  type UsageFilter,
  type UsageQuery,
} from '../store/usage-report.ts';

export { USAGE_BUCKETS } from '../store/usage-report.ts';

/** What a report can be grouped by, and the column that it is stored in. */
const DIMENSIONS = {
  account: 'account_id',
  key: 'key_id',
  person: 'person_id',
  model: 'effective_model',
  route: 'route',
  host: 'host',
} as const satisfies Record<string, UsageDimension>;
type DimensionName = keyof typeof DIMENSIONS;

const USAGE_METRICS = ['requests', 'tokens', 'cost', 'refunds', 'refused', 'first_byte', 'duration'] as const;
export type UsageMetric = (typeof USAGE_METRICS)[number];

const LABEL = 'label:';
const DAYS_DEFAULT = 30;
const DAY_MS = 24 * HOUR_MS;

/** A report that cannot be made: which parameter is wrong, and what it must be. */
export class InvalidUsageQuery extends Error {
  override readonly name = 'InvalidUsageQuery';
  readonly param: string;
  readonly must: string;

  constructor(param: string, must: string) {
    super(`${param} ${must}.`);
    this.param = param;
    this.must = must;
  }
}

/** A report as it is asked for. Times are in milliseconds; lists are words with commas between them. */
export interface AskedUsage {
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly bucket: string;
  readonly groupBy: string;
  readonly metrics: string | null;
  readonly filter: UsageFilter;
}

export interface ReadUsage {
  readonly query: UsageQuery;
  readonly groupBy: readonly string[];
  readonly metrics: ReadonlySet<UsageMetric>;
}

/** Sums are kept by the hour, so a report begins and ends with one: `since` is rounded down, `until` up. */
export function readUsageQuery(asked: AskedUsage, clock: Clock): ReadUsage {
  const untilMs = startOf(HOUR_MS, (asked.untilMs ?? clock.nowMs()) + HOUR_MS - 1);
  const sinceMs = startOf(HOUR_MS, asked.sinceMs ?? untilMs - DAYS_DEFAULT * DAY_MS);
  if (sinceMs >= untilMs || isReversed(asked)) throw new InvalidUsageQuery('since', 'must be before until');
  const groupBy = readWords(asked.groupBy);
  const metrics = readMetrics(asked.metrics);
  const query: UsageQuery = {
    sinceMs,
    untilMs,
    bucket: readBucket(asked.bucket),
    groups: groupBy.flatMap((word) => (isDimension(word) ? [DIMENSIONS[word]] : [])),
    detail: readDetail(groupBy),
    filter: asked.filter,
    times: metrics.has('first_byte') || metrics.has('duration'),
  };
  return { query, groupBy, metrics };
}

/** Rounding makes a full hour of two times within one, whichever comes first. */
function isReversed({ sinceMs, untilMs }: AskedUsage): boolean {
  return sinceMs !== null && untilMs !== null && sinceMs >= untilMs;
}

/** The words of a list. A comma that belongs to a word, which only the name of a label can have, follows a backslash. */
export function splitWords(text: string): string[] {
  return text.split(/(?<!\\),/).map((word) => word.trim().replaceAll('\\,', ','));
}

function readWords(text: string): string[] {
  return [...new Set(splitWords(text).filter((word) => word !== ''))];
}

function readBucket(text: string): UsageBucket {
  const bucket = USAGE_BUCKETS.find((each) => each === text);
  if (bucket === undefined) throw new InvalidUsageQuery('bucket', `must be one of ${USAGE_BUCKETS.join(', ')}`);
  return bucket;
}

function isDimension(word: string): word is DimensionName {
  return Object.hasOwn(DIMENSIONS, word);
}

/** The chain, or one label; all other words must be dimensions. */
function readDetail(groupBy: readonly string[]): UsageDetail | null {
  const others = groupBy.filter((word) => !isDimension(word));
  const unknown = others.find((word) => word !== 'chain' && !isLabel(word));
  if (unknown !== undefined)
    throw new InvalidUsageQuery(
      'group_by',
      `must be a list of ${[...Object.keys(DIMENSIONS), 'chain', 'label:<name>'].join(', ')}`,
    );
  if (others.length > 1)
    throw new InvalidUsageQuery('group_by', 'may have the chain or one label, not several of them');
  const [word] = others;
  if (word === undefined) return null;
  return word === 'chain' ? { kind: 'chain' } : { kind: 'label', name: word.slice(LABEL.length) };
}

function isLabel(word: string): boolean {
  return (
    word.startsWith(LABEL) && word.length > LABEL.length && word.length <= LABEL.length + LIMITS.labelCharactersMax
  );
}

function readMetrics(text: string | null): ReadonlySet<UsageMetric> {
  if (text === null) return new Set(USAGE_METRICS);
  const words = readWords(text);
  const isMetric = (word: string): word is UsageMetric => USAGE_METRICS.includes(word as UsageMetric);
  if (words.length > 0 && words.every(isMetric)) return new Set(words);
  throw new InvalidUsageQuery('metrics', `must be a list of ${USAGE_METRICS.join(', ')}`);
}
