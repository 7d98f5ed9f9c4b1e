import { z } from 'zod';
import type { HealthSettings } from '../hosts/health-settings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function count(usual: number, most: number, meaning: string) {
  return z.int().min(1).max(most).default(usual).describe(meaning);
}

/** When a host is ejected, for how long, and how often another host is tried. */
export const healthSchema = z.strictObject({
  consecutive_failures: count(5, 1_000, 'Failures in a row that eject a host.'),
  failure_percent: count(50, 100, 'Percentage of failed calls within the window that ejects a host.'),
  failure_calls_min: count(20, 100_000, 'Calls within the window before failure_percent applies.'),
  window_ms: count(10_000, DAY_MS, 'Window over which failures are counted.'),
  ejection_ms: count(
    30_000,
    DAY_MS,
    'How long a host is ejected the first time; each further ejection lasts this much longer.',
  ),
  ejection_max_ms: count(300_000, DAY_MS, 'Longest ejection.'),
  slow_first_byte_ms: count(60_000, DAY_MS, 'A stream that starts later than this counts as a failure of its host.'),
  limited_ms: count(1_000, DAY_MS, 'Pause after a 429 without Retry-After.'),
  limited_max_ms: count(60_000, DAY_MS, 'Longest pause after a 429.'),
  key_aside_ms: count(300_000, DAY_MS, 'How long a rejected key, or a model the host does not know, is not used.'),
  overruns: count(3, 1_000, 'How often a host may report more tokens than a call could use before it is ejected.'),
  retry_percent: z
    .int()
    .min(0)
    .max(100)
    .default(20)
    .describe('Maximum share of second retries among all calls, in percent.'),
});

export function readHealth(draft: z.infer<typeof healthSchema>): HealthSettings {
  return {
    consecutiveFailures: draft.consecutive_failures,
    failurePercent: draft.failure_percent,
    failureCallsMin: draft.failure_calls_min,
    windowMs: draft.window_ms,
    ejectionMs: draft.ejection_ms,
    ejectionMaxMs: draft.ejection_max_ms,
    slowFirstByteMs: draft.slow_first_byte_ms,
    limitedMs: draft.limited_ms,
    limitedMaxMs: draft.limited_max_ms,
    keyAsideMs: draft.key_aside_ms,
    overruns: draft.overruns,
    retryPercent: draft.retry_percent,
  };
}
