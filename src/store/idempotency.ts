import { LIMITS } from '../limits.ts';
import type { IdempotencyMark, IdempotencyState, LedgerOutcome } from './store.ts';

/** What an account's idempotency key stands for. A running key is its call's, for as long as the hold is open. */
export interface IdempotencyRow {
  readonly callId: bigint;
  readonly bodySha256: Uint8Array;
  readonly state: IdempotencyState;
  readonly kept: Uint8Array | null;
  /** By the store's clock, when the key was taken. */
  readonly createdMs: number;
}

/** A key whose time is over is free, unless its call still holds money. */
export function isOver(row: Pick<IdempotencyRow, 'state' | 'createdMs'>, nowMs: number): boolean {
  return row.state !== 'running' && row.createdMs <= nowMs - LIMITS.idempotencyKeyMs;
}

/** The answer to a hold whose key is taken. */
export function repeatOf(row: IdempotencyRow, mark: IdempotencyMark): LedgerOutcome {
  const { callId, kept } = row;
  const isSame = Buffer.compare(row.bodySha256, mark.bodySha256) === 0;
  if (!isSame) return { kind: 'idempotent', state: 'mismatch', callId, kept: null };
  return { kind: 'idempotent', state: row.state, callId, kept };
}

/** A call that neither cost anything nor came to an answer might as well not have been: its key is free again. */
export function freesKey(costNanousd: bigint, isComplete: boolean, kept: Uint8Array | null): boolean {
  return costNanousd === 0n && !isComplete && kept === null;
}
