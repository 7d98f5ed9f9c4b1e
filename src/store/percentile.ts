import { TIME_BOUNDS_MS } from './usage-dimensions.ts';

/**
 * The time that this share of calls did not exceed, by interpolation within its class; null without calls. The last class
 * has no upper bound, so its lower one is returned.
 */
export function percentileMs(counts: readonly bigint[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0n);
  if (total === 0n) return null;
  const rank = Math.max(Math.ceil(Number(total) * share), 1);
  let below = 0;
  for (const [at, count] of counts.entries()) {
    const inClass = Number(count);
    if (below + inClass < rank) {
      below += inClass;
      continue;
    }
    const from = TIME_BOUNDS_MS[at - 1] ?? 0;
    const to = TIME_BOUNDS_MS[at] ?? from;
    return Math.round(from + ((to - from) * (rank - below)) / inClass);
  }
  return TIME_BOUNDS_MS.at(-1)!;
}
