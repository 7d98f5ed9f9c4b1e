import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { type AcceptedLossColumns, acceptedLossOf } from '../columns.ts';
import type { AcceptedLoss } from '../store.ts';

export function acceptedLosses(database: DatabaseSync): AcceptedLoss[] {
  const statement = database.prepare('SELECT * FROM accepted_loss ORDER BY generation LIMIT ?');
  const rows = statement.all(BigInt(LIMITS.storePageRowsMax));
  return rows.map((row) => acceptedLossOf(row as unknown as AcceptedLossColumns));
}
