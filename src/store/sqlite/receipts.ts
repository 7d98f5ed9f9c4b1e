import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Receipt } from '../../canonical/receipt.ts';
import { fitsInt64, INT64_MAX } from '../int64.ts';
import { limitOf } from '../page.ts';
import { RECEIPT_SELECT, type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import type { Page, ReceiptFilter } from '../store.ts';

export class ReceiptReader {
  readonly #database: DatabaseSync;
  readonly #byId: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#byId = database.prepare(`${RECEIPT_SELECT} WHERE call.id = ?`);
  }

  find(id: bigint, accountId: bigint | null): Receipt | null {
    const row = fitsInt64(id) ? (this.#byId.get(id) as unknown as ReceiptColumns | undefined) : undefined;
    if (row === undefined || (accountId !== null && row.account_id !== accountId)) return null;
    return receiptOf(row);
  }

  /**
   * Reads backwards from the newest id. Receipts of a rarely used account may be far back, so this runs in a thread.
   */
  list(filter: ReceiptFilter, page: Page): Receipt[] {
    const conditions = ['call.id < ?'];
    const values: SQLInputValue[] = [page.after ?? INT64_MAX];
    const where = (condition: string, value: bigint | null) => {
      if (value === null) return;
      conditions.push(condition);
      values.push(value);
    };
    where('call.account_id = ?', filter.accountId);
    where('call.key_id = ?', filter.keyId);
    where('call.created_ms >= ?', filter.sinceMs === null ? null : BigInt(filter.sinceMs));
    const sql = `${RECEIPT_SELECT} WHERE ${conditions.join(' AND ')} ORDER BY call.id DESC LIMIT ?`;
    const rows = this.#database.prepare(sql).all(...values, limitOf(page)) as unknown as ReceiptColumns[];
    return rows.map(receiptOf);
  }
}
