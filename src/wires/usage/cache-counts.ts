import type { Usage } from '../../canonical/usage.ts';
import type { Members } from '../fields/members.ts';

/** The cached part of the input. One-hour writes are part of `cache_write_tokens` and have a price of their own. */
export function cacheCounts({ cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens }: Usage): Members {
  return {
    cached_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens + cacheWrite1hTokens,
    ...(cacheWrite1hTokens > 0 && { cache_write_1h_tokens: cacheWrite1hTokens }),
  };
}
