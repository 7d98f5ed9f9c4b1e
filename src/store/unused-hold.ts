import { NOTHING_SETTLED } from '../canonical/receipt.ts';
import type { HoldOperation, SettleOperation } from './store.ts';

/**
 * Ends a hold whose owner learned of it too late, or not at all, to make the call. No host was called: nothing is lost, the
 * idempotency key is free again, and a job goes back to the queue. Voiding it would leave both unknown.
 */
export function endUnused({ id, job }: Pick<HoldOperation, 'id' | 'job'>, nowMs: number): SettleOperation {
  const settlement = { ...NOTHING_SETTLED, ended: 'failed', httpStatus: 503 } as const;
  const end = { kind: 'settle', id, endedMs: nowMs, settlement, kept: null } as const;
  if (job === undefined) return end;
  const error = {
    errorCode: 'store_unavailable',
    errorMessage: 'The job was not run, because its start was not confirmed.',
  };
  return { ...end, job: { jobId: job.id, end: 'queued', dueMs: nowMs, ...error } };
}
