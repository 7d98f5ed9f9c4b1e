/** What sums are kept by. The columns have the names of those of a call; 0 stands for a call that has none. */
export const USAGE_DIMENSIONS = ['account_id', 'key_id', 'person_id', 'effective_model', 'route', 'host'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Sums over receipts, besides the times. */
export const USAGE_SUMS = [
  'requests',
  'fresh_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost',
] as const;
export type UsageSum = (typeof USAGE_SUMS)[number];

export const USAGE_KEY: readonly string[] = ['start_ms', ...USAGE_DIMENSIONS];

/** The upper bounds of the classes that times are counted in; one more class is for all longer times. */
export const TIME_BOUNDS_MS: readonly number[] = [
  100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 20_000, 60_000, 180_000,
];
