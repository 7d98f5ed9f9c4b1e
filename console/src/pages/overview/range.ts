import { requestsOfDays } from '../../shell/custom-days.tsx';
import type { Search } from '../../shell/search.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

type RangeName = '24h' | '7d' | '30d' | '90d';

export interface Range {
  readonly value: RangeName;
  readonly label: string;
  readonly seconds: number;
  readonly bucket: 'hour' | 'day';
}

export const RANGES: readonly Range[] = [
  { value: '24h', label: '24 h', seconds: DAY, bucket: 'hour' },
  { value: '7d', label: '7 d', seconds: 7 * DAY, bucket: 'day' },
  { value: '30d', label: '30 d', seconds: 30 * DAY, bucket: 'day' },
  { value: '90d', label: '90 d', seconds: 90 * DAY, bucket: 'day' },
];

export function rangeOf(name: string | undefined): Range {
  return RANGES.find(({ value }) => value === name) ?? RANGES[2]!;
}

/** When the range begins: with a whole bucket, so that the first one is not cut. */
export function sinceOf({ seconds, bucket }: Range): number {
  const unit = bucket === 'hour' ? HOUR : DAY;
  const now = Math.floor(Date.now() / 1000);
  return now - (now % unit) - (seconds - unit);
}

/** The list of requests in that range. */
export function requestsOfRange(range: Range): Search {
  return range.value === '24h' ? { time: '24h' } : requestsOfDays(sinceOf(range));
}

export function startOfDay(daysAgo = 0): number {
  const now = Math.floor(Date.now() / 1000);
  return now - (now % DAY) - daysAgo * DAY;
}

export function startOfMonth(): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) / 1000;
}

/** The full hour 24 hours ago: sums are kept by the hour. */
export function dayAgo(): number {
  const now = Math.floor(Date.now() / 1000);
  return now - (now % HOUR) - DAY + HOUR;
}
