import type { GatewayError } from '../canonical/errors.ts';
import { LIMITS } from '../limits.ts';

/** Whether the same call may succeed later: the host or the gateway was busy or away, and the request is not at fault. */
export function isPassing({ status, mustNotRetry, kind }: GatewayError): boolean {
  return (status === 429 || status >= 500) && !mustNotRetry && kind !== 'internal_error';
}

/** Whether another gateway may know the model of a job that was just submitted: replicas do not read a new config at the same moment. */
export function isKnownElsewhere({ kind }: GatewayError, ageMs: number): boolean {
  return kind === 'model_not_found' && ageMs < LIMITS.jobModelUnknownMs;
}

/** How long a job waits after this many failures; `spread` is from 0 to 1, so that many jobs do not come back at once. */
export function retryDelayMs(failures: number, spread: number): number {
  const doubled = LIMITS.jobRetryMs * 2 ** Math.min(failures - 1, 20);
  return Math.round(Math.min(doubled, LIMITS.jobRetryMaxMs) * (0.5 + spread / 2));
}
