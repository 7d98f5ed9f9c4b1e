/** Token counts in disjoint buckets; only `reasoningTokens` is a part of another one (output). */
export interface Usage {
  readonly freshTokens: number;
  readonly cacheReadTokens: number;
  /** Written to a cache with the usual lifetime; the one-hour bucket stands apart, it has its own price. */
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/**
 * What is known about a call's usage. Reported comes from the wire's final position, partial from anywhere
 * earlier; zero reported is zero; missing is never zero. `defect` says that the host sent counts nobody can bill.
 */
export type UsageReading =
  | { readonly state: 'reported'; readonly usage: Usage }
  | { readonly state: 'partial'; readonly usage: Usage }
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

/** Everything on the input side, whichever bucket it fell into. */
export function inputTokens(usage: Usage): number {
  return usage.freshTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
}
