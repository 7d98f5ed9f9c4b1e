import type { Receipt } from '../../canonical/receipt.ts';
import type { CallOwner } from '../call-feed.ts';
import { CALL_STATE } from '../codes.ts';
import { RECEIPT_SELECT, type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import { type Program, rowsOf } from './program.ts';

interface OwnerColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly key_id: bigint | null;
  readonly person_id: bigint | null;
}

const OWNER = 'SELECT id, account_id, key_id, person_id FROM call';

/** Both engines have an index of the open calls. */
export function* openCalls(limit: number): Program<CallOwner[]> {
  return (yield* rowsOf<OwnerColumns>(`${OWNER} WHERE state = ${CALL_STATE.of.open} LIMIT ?`, limit)).map(ownerOf);
}

/** Reads the newest calls by their ids, so it takes as long as there are calls from that id on. */
export function* endedCalls(fromId: bigint, sinceMs: number, limit: number): Program<CallOwner[]> {
  const sql = `${OWNER} WHERE id >= ? AND ended_ms >= ? ORDER BY id LIMIT ?`;
  return (yield* rowsOf<OwnerColumns>(sql, fromId, sinceMs, limit)).map(ownerOf);
}

export function* endedReceipts(ids: readonly bigint[]): Program<Receipt[]> {
  if (ids.length === 0) return [];
  const sql = `${RECEIPT_SELECT} WHERE call.id IN (${ids.map(() => '?')}) AND call.state <> ${CALL_STATE.of.open}
    ORDER BY call.id`;
  return (yield* rowsOf<ReceiptColumns>(sql, ...ids)).map(receiptOf);
}

function ownerOf({ id, account_id: accountId, key_id: keyId, person_id: personId }: OwnerColumns): CallOwner {
  return { id, accountId, keyId, personId };
}
