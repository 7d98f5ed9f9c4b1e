import { LIMITS } from '../limits.ts';

/** Token counts in disjoint buckets, except that `reasoningTokens` is part of `outputTokens`. */
export interface Usage {
  readonly freshTokens: number;
  readonly cacheReadTokens: number;
  /** Written to a cache with the default lifetime; the one-hour bucket is separate because it has its own price. */
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/**
 * What is known about a call's usage. `reported` was read at the end of the response, `partial` before it. A reported
 * zero is zero; `missing` is never zero. `defect` says why the host's counts, or its last ones, cannot be billed.
 */
export type UsageReading =
  | { readonly state: 'reported'; readonly usage: Usage }
  | { readonly state: 'partial'; readonly usage: Usage; readonly defect?: string | undefined }
  | { readonly state: 'missing'; readonly defect?: string };

export const MISSING_USAGE: UsageReading = { state: 'missing' };

export const ZERO_USAGE: Usage = {
  freshTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** All input tokens, whatever their bucket. */
export function inputTokens(usage: Usage): number {
  return usage.freshTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
}

/** Whether all counts can be stored and added up. Written out: an array would be allocated for every call. */
export function areCounts(usage: Usage): boolean {
  return (
    isCount(usage.freshTokens) &&
    isCount(usage.cacheReadTokens) &&
    isCount(usage.cacheWriteTokens) &&
    isCount(usage.cacheWrite1hTokens) &&
    isCount(usage.outputTokens) &&
    isCount(usage.reasoningTokens)
  );
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= LIMITS.usageTokensMax;
}
