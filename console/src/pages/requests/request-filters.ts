import type { Receipt } from '../../api/generated/routes.ts';
import { DAY_SECONDS as DAY, dayOf } from '../../shell/custom-days.tsx';
import type { Search } from '../../shell/search.ts';

const HOUR = 3_600;

export const TIMES = [
  { value: 'any', label: 'any', seconds: null },
  { value: '1h', label: 'last hour', seconds: HOUR },
  { value: '24h', label: 'last 24 h', seconds: DAY },
  { value: '7d', label: 'last 7 days', seconds: 7 * DAY },
  { value: '30d', label: 'last 30 days', seconds: 30 * DAY },
  { value: 'custom', label: 'custom', seconds: null },
] as const;

export const OUTCOMES = [
  { value: 'any', label: 'any' },
  { value: 'complete', label: 'complete' },
  { value: 'refused', label: 'refused' },
  { value: 'open', label: 'running' },
  { value: 'failed', label: 'failed' },
  { value: 'upstream_error', label: 'host did not finish' },
  { value: 'timeout', label: 'timed out' },
  { value: 'client_gone', label: 'client left' },
  { value: 'stalled', label: 'client stalled' },
  { value: 'shutdown', label: 'gateway shut down' },
  { value: 'died', label: 'gateway died' },
] as const;

export interface RequestFilters {
  readonly outcome: (typeof OUTCOMES)[number]['value'];
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly key: string | undefined;
  readonly model: string | undefined;
  readonly code: string | undefined;
  readonly host: string | undefined;
  /** The id of a chain, without the place in it. */
  readonly chain: string | undefined;
  readonly isLive: boolean;
}

export function readFilters(search: Search): RequestFilters {
  const time = TIMES.find(({ value }) => value === search.time) ?? TIMES[0];
  const isCustom = time.value === 'custom';
  const from = isCustom ? dayOf(search.from) : null;
  const to = isCustom ? dayOf(search.to) : null;
  // A day that has not ended excludes nothing, so that calls that end now are in the list.
  const until = to === null || to + DAY > Date.now() / 1000 ? undefined : to + DAY;
  const outcome = OUTCOMES.find(({ value }) => value === search.show)?.value ?? 'any';
  return {
    outcome,
    since: time.seconds === null ? (from ?? undefined) : minutesAgo(time.seconds),
    until,
    key: search.key,
    model: search.model,
    code: search.code,
    host: search.host,
    chain: search.chain,
    // Calls that end now are not in a period that has ended.
    isLive: search.live === '1' && until === undefined,
  };
}

/** Rounded to the minute, so that the same list is not read again at each look. */
function minutesAgo(seconds: number): number {
  const now = Math.floor(Date.now() / 1000);
  return now - (now % 60) - seconds;
}

/** Which of the two lists has calls that the filters allow. */
export function listsFor({ outcome, code, host, chain }: RequestFilters): {
  readonly hasReceipts: boolean;
  readonly hasRefusals: boolean;
} {
  return {
    hasReceipts: outcome !== 'refused' && code === undefined,
    // A refused call reached no host, and its chain is not stored.
    hasRefusals: (outcome === 'any' || outcome === 'refused') && host === undefined && chain === undefined,
  };
}

/** How the list of receipts takes the outcome. */
export function outcomeInput(outcome: RequestFilters['outcome']): {
  readonly status?: Receipt['status'];
  readonly ended?: NonNullable<Receipt['ended']>;
} {
  if (outcome === 'any' || outcome === 'refused') return {};
  return outcome === 'open' ? { status: 'open' } : { ended: outcome };
}
