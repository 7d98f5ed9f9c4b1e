import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Receipt } from '../../canonical/receipt.ts';
import { idRangeOf, nextOf } from '../account-receipts.ts';
import { fitsInt64, INT64_MAX } from '../int64.ts';
import { limitOf } from '../page.ts';
import { RECEIPT_SELECT, type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import type { AccountReceiptFilter, Page, ReceiptFilter, ReceiptPage, ReceiptSlice } from '../store.ts';

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

  /** Finds the ids first, so that only the rows of the page are read whole. */
  listOfAccount(filter: AccountReceiptFilter, page: ReceiptPage): ReceiptSlice {
    const { from, below } = idRangeOf(filter, page);
    const isChain = filter.chain !== null;
    const examined = `SELECT id, key_id, created_ms, requested_model, effective_model
      FROM call INDEXED BY ${isChain ? 'call_by_chain' : 'call_by_account'}
      WHERE account_id = ? AND id >= ? AND id < ?${isChain ? ` AND chain IS NOT NULL AND ${CHAIN_ID} = ?` : ''}
      ORDER BY id DESC`;
    const place: SQLInputValue[] = [filter.accountId, from, below, ...(isChain ? [filter.chain] : [])];
    const { condition, values } = conditionsOf(filter);
    const ids = this.#ids(
      `SELECT id FROM (${examined} LIMIT ?)${condition} ORDER BY id DESC LIMIT ?`,
      ...place,
      page.examineMax,
      ...values,
      page.limit + 1,
    );
    const [last = null] =
      ids.length > page.limit ? [] : this.#ids(`${examined} LIMIT 1 OFFSET ?`, ...place, page.examineMax - 1);
    const next = nextOf(ids, page.limit, last);
    return { receipts: ids.slice(0, page.limit).flatMap((id) => this.find(id, filter.accountId) ?? []), next };
  }

  #ids(sql: string, ...values: SQLInputValue[]): bigint[] {
    return this.#database
      .prepare(sql)
      .all(...values)
      .map((row) => row.id as bigint);
  }
}

/** Spelled exactly as in the index, or SQLite would not use it. */
const CHAIN_ID = "substr(chain, 1, instr(chain, ';') - 1)";

function conditionsOf({ keyId, sinceMs, untilMs, model }: AccountReceiptFilter) {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const where = (condition: string, value: SQLInputValue) => {
    if (value === null) return;
    conditions.push(condition);
    values.push(value);
  };
  where('key_id = ?', keyId);
  where('created_ms >= ?', sinceMs);
  where('created_ms < ?', untilMs);
  where('(SELECT id FROM name WHERE text = ?) IN (requested_model, effective_model)', model);
  return { condition: conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`, values };
}
