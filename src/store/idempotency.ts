import type { Settlement } from '../canonical/receipt.ts';
import { LIMITS } from '../limits.ts';
import { IDEMPOTENCY_STATE } from './codes.ts';
import type { IdempotencyMark, IdempotencyState, LedgerOutcome } from './store.ts';

/**
 * The state of an account's idempotency key. While it is running it belongs to its call, as long as the hold is open.
 */
export interface IdempotencyRow {
  readonly callId: bigint;
  readonly bodySha256: Uint8Array;
  readonly state: IdempotencyState;
  readonly kept: Uint8Array | null;
  /** When the key was taken, by the store's clock. */
  readonly createdMs: number;
}

/** In SQL: the key `entry` was taken by the submission of a job or a group, which has no call of that id. */
export const IS_OF_JOB = `entry.state = ${IDEMPOTENCY_STATE.of.finished} AND (
  EXISTS (SELECT 1 FROM job WHERE job.id = entry.call_id AND job.account_id = entry.account_id)
  OR EXISTS (SELECT 1 FROM job_group WHERE job_group.id = entry.call_id AND job_group.account_id = entry.account_id))`;

/** An expired key is free, unless its call still has an open hold. */
export function isOver(row: Pick<IdempotencyRow, 'state' | 'createdMs'>, nowMs: number): boolean {
  return row.state !== 'running' && row.createdMs <= nowMs - LIMITS.idempotencyKeyMs;
}

/** The time at which a key counts as taken, so that it lives until the given time, and at least as long as any other key. */
export function keptKeyMs(nowMs: number, untilMs: number): number {
  return Math.max(nowMs, untilMs - LIMITS.idempotencyKeyMs);
}

/** The outcome for a hold whose key is in use. */
export function repeatOf(row: IdempotencyRow, mark: IdempotencyMark): LedgerOutcome {
  const { callId, kept } = row;
  const isSame = Buffer.compare(row.bodySha256, mark.bodySha256) === 0;
  if (!isSame) return { kind: 'idempotent', state: 'mismatch', callId, kept: null };
  return { kind: 'idempotent', state: row.state, callId, kept };
}

/** The call was completed or had usage, even at a price of zero: it may have been paid for elsewhere. */
export function isAnswered({ ended, usage }: Pick<Settlement, 'ended' | 'usage'>): boolean {
  return ended === 'complete' || usage !== null;
}

/** A call without cost and without a response frees its key. */
export function freesKey(costNanousd: bigint, answered: boolean, kept: Uint8Array | null): boolean {
  return costNanousd === 0n && !answered && kept === null;
}
