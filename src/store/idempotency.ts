import type { Settlement } from '../canonical/receipt.ts';
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

/** It came to its end, or part of it was billed, be it at a price of zero: somebody may have paid for it elsewhere. */
export function isAnswered({ ended, usage }: Pick<Settlement, 'ended' | 'usage'>): boolean {
  return ended === 'complete' || usage !== null;
}

/** A call that neither cost anything nor came to any answer might as well not have been: its key is free again. */
export function freesKey(costNanousd: bigint, answered: boolean, kept: Uint8Array | null): boolean {
  return costNanousd === 0n && !answered && kept === null;
}
