import { LIMITS } from '../limits.ts';

/** How long to wait after that many failed attempts; `spread` from 0 to 1 keeps receivers from a common rhythm. */
export function retryDelayMs(attempts: number, spread: number): number {
  const growingMs = LIMITS.webhookRetryFirstMs * LIMITS.webhookRetryFactor ** (attempts - 1);
  const delayMs = Math.min(growingMs, LIMITS.webhookRetryLastMs);
  return Math.round(delayMs * (1 - spread / 5));
}

/** A delivery is tried for a day after its event, however many attempts that takes. */
export function isGivenUp(createdMs: number, nextAttemptMs: number): boolean {
  return nextAttemptMs > createdMs + LIMITS.webhookRetryForMs;
}
