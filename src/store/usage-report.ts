import type { UsageDimension, UsageSum } from './usage-dimensions.ts';

export const USAGE_BUCKETS = ['hour', 'day', 'week', 'month', 'none'] as const;
export type UsageBucket = (typeof USAGE_BUCKETS)[number];

/** What only the receipts have, so that grouping by it has to read them. */
export type UsageDetail = { readonly kind: 'chain' } | { readonly kind: 'label'; readonly name: string };

/** Null leaves a condition out. */
export interface UsageFilter {
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  /** The effective model. */
  readonly model: string | null;
  readonly route: string | null;
  readonly host: string | null;
}

export interface UsageQuery {
  /** The beginning of an hour; receipts that were created then or later. */
  readonly sinceMs: number;
  /** The beginning of an hour; receipts that were created before. */
  readonly untilMs: number;
  readonly bucket: UsageBucket;
  readonly groups: readonly UsageDimension[];
  readonly detail: UsageDetail | null;
  readonly filter: UsageFilter;
  /** Whether the times are wanted, which make a report slower. */
  readonly times: boolean;
}

/** One group of a report. Members that it is not grouped by are null, and so are those that its calls do not have. */
export interface UsageRow {
  readonly startMs: number | null;
  readonly accountId: bigint | null;
  readonly accountName: string | null;
  readonly keyId: bigint | null;
  readonly keyName: string | null;
  readonly personId: bigint | null;
  readonly personEmail: string | null;
  readonly model: string | null;
  readonly route: string | null;
  readonly host: string | null;
  /** The chain or the value of the label. */
  readonly detail: string | null;
  readonly sums: Readonly<Record<UsageSum, bigint>>;
  /** What was refunded of these receipts so far. */
  readonly refunded: bigint;
  /** Null if the report is grouped by something that is not known of refused calls. */
  readonly refused: bigint | null;
  /** How many calls were in each class of times; null if the times were not asked for. */
  readonly firstByte: readonly bigint[] | null;
  readonly duration: readonly bigint[] | null;
}

/**
 * `too_many_receipts`: grouping by a chain or label would have to read more receipts than one report may. `too_slow`: the
 * database stopped it. `busy`: it waited too long for other reports.
 */
export type UsageReport = readonly UsageRow[] | 'too_many_rows' | 'too_many_receipts' | 'too_slow' | 'busy';

/** Whether refused calls can be told apart in the way that the report wants. */
export function countsRefusals({ groups, detail, filter: { model, route, host } }: UsageQuery): boolean {
  const isCounted = (dimension: UsageDimension): boolean => REFUSALS_BY.includes(dimension);
  return detail === null && groups.every(isCounted) && model === null && route === null && host === null;
}

const REFUSALS_BY: readonly UsageDimension[] = ['account_id', 'key_id', 'person_id'];
