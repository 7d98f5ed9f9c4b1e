import type { GatewayError } from '../canonical/errors.ts';
import { LIMITS } from '../limits.ts';

/** Whether the same call may succeed later: the host or the gateway was busy or away, and the request is not at fault. */
export function isPassing({ status, mustNotRetry, kind }: GatewayError): boolean {
  return (status === 429 || status >= 500) && !mustNotRetry && kind !== 'internal_error';
}

/**
 * How long a job waits whose model this gateway does not have: another replica may have read a newer config. Null if the job was
 * submitted so long ago that all would have it.
 */
export function unknownModelDelayMs({ kind }: GatewayError, ageMs: number, retryMs: number): number | null {
  if (kind !== 'model_not_found' || ageMs >= LIMITS.jobModelUnknownMs) return null;
  return Math.min(retryMs, LIMITS.jobModelRetryMs, LIMITS.jobModelUnknownMs - ageMs);
}

/** How long a job waits after this many failures; `spread` is from 0 to 1, so that many jobs do not come back at once. */
export function retryDelayMs(failures: number, spread: number): number {
  const doubled = LIMITS.jobRetryMs * 2 ** Math.min(failures - 1, 20);
  return Math.round(Math.min(doubled, LIMITS.jobRetryMaxMs) * (0.5 + spread / 2));
}
