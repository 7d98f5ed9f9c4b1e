import { LIMITS } from '../../src/limits.ts';

/**
 * Loaded before the gateway of a soak. With the bounds of the product some caches would take days to fill, and a heap that
 * grows because a cache fills looks like one that leaks. The code is the same; only the bounds are smaller.
 */
const SMALL = {
  cachedKeysMax: 200,
  cachedKeyMissesMax: 200,
  rateLimitedKeysMax: 200,
  limitedIdsMax: 1_024,
  storeCachedRowsMax: 200,
  tokenCountsKept: 1_000,
  tokenCountsKeptPerAccount: 100,
  tokenMergesKept: 5_000,
  modelSeriesMax: 10,
} as const satisfies { readonly [Name in keyof typeof LIMITS]?: number };

Object.assign(LIMITS, SMALL);
