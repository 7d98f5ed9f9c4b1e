import { z } from 'zod';
import type { HealthSettings } from '../hosts/health-settings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function count(usual: number, most: number, meaning: string) {
  return z.int().min(1).max(most).default(usual).describe(meaning);
}

/** When a host is set aside, for how long, and how often another is asked instead. */
export const healthSchema = z.strictObject({
  consecutive_failures: count(5, 1_000, 'Failures in a row that eject a host.'),
  failure_percent: count(50, 100, 'Or this share of the calls within the window, in percent.'),
  failure_calls_min: count(20, 100_000, 'But only of at least so many calls.'),
  window_ms: count(10_000, DAY_MS, 'The window over which failures are counted.'),
  ejection_ms: count(30_000, DAY_MS, 'How long a host is ejected, times how often it was.'),
  ejection_max_ms: count(300_000, DAY_MS, 'The longest ejection.'),
  slow_first_byte_ms: count(60_000, DAY_MS, 'A stream that begins later than this counts as a failure of its host.'),
  limited_ms: count(1_000, DAY_MS, 'How long a host that answered 429 is left alone if it does not say.'),
  limited_max_ms: count(60_000, DAY_MS, 'The longest a 429 is obeyed.'),
  key_aside_ms: count(300_000, DAY_MS, 'How long a refused key, or a model the host does not know, is set aside.'),
  overruns: count(3, 1_000, 'How often a host may count more tokens than a call could use before it is ejected.'),
  retry_percent: z.int().min(0).max(100).default(20).describe('Second retries, in percent of the calls.'),
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
