import type { Receipt } from '../../canonical/receipt.ts';
import { fitsInt64, INT64_MAX } from '../int64.ts';
import { limitOf } from '../page.ts';
import { RECEIPT_SELECT, type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import type { Page, ReceiptFilter } from '../store.ts';
import type { Connections } from './connections.ts';

export class Receipts {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async find(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    if (!fitsInt64(id)) return null;
    const [row] = await this.#connections.query<ReceiptColumns>(`${RECEIPT_SELECT} WHERE call.id = $1`, [id]);
    if (row === undefined || (accountId !== null && row.account_id !== accountId)) return null;
    return receiptOf(row);
  }

  /** Reads backwards from the newest id: an index by account would slow down every hold and settlement. */
  async list({ accountId, keyId, sinceMs }: ReceiptFilter, page: Page): Promise<Receipt[]> {
    const rows = await this.#connections.query<ReceiptColumns>(
      `${RECEIPT_SELECT}
       WHERE call.id < $1 AND ($2::int8 IS NULL OR call.account_id = $2) AND ($3::int8 IS NULL OR call.key_id = $3)
         AND ($4::int8 IS NULL OR call.created_ms >= $4)
       ORDER BY call.id DESC LIMIT $5`,
      [page.after ?? INT64_MAX, accountId, keyId, sinceMs, limitOf(page)],
    );
    return rows.map(receiptOf);
  }
}
