import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Receipt } from '../../canonical/receipt.ts';
import { idRangeOf, nextOf } from '../account-receipts.ts';
import { fitsInt64, INT64_MAX } from '../int64.ts';
import { limitOf } from '../page.ts';
import { RECEIPT_SELECT, type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import { codesOf } from '../receipt-filter-codes.ts';
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
    const { limit, examineMax } = page;
    const examined = `SELECT * FROM (${examinedBy(filter)}) ORDER BY id DESC LIMIT $examineMax`;
    const names = {
      personId: filter.personId ?? null,
      route: filter.route ?? null,
      host: filter.host ?? null,
      ...codesOf(filter),
    };
    const terms = {
      ...filter,
      ...names,
      ...idRangeOf(filter, page),
      examineMax,
      rows: limit + 1,
      skipped: examineMax - 1,
    };
    const ids = this.#ids(`SELECT id FROM (${examined}) ${WANTED} ORDER BY id DESC LIMIT $rows`, terms);
    const isFull = ids.length > limit;
    const [last = null] = isFull ? [] : this.#ids(`SELECT id FROM (${examined}) LIMIT 1 OFFSET $skipped`, terms);
    const receipts = ids.slice(0, limit).flatMap((id) => this.find(id, filter.accountId) ?? []);
    return { receipts, next: nextOf(ids, limit, last) };
  }

  #ids(sql: string, terms: Record<string, SQLInputValue>): bigint[] {
    const statement = this.#database.prepare(sql);
    statement.setAllowUnknownNamedParameters(true);
    return statement.all(terms).map((row) => row.id as bigint);
  }
}

const EXAMINED =
  'call.id, call.key_id, call.person_id, call.created_ms, call.requested_model, call.effective_model, call.route, call.state, call.ended, call.host, call.chain';

function examinedBy({ accountId, chain }: AccountReceiptFilter): string {
  if (accountId === null) return OF_ALL;
  return chain === null ? OF_ACCOUNT : IN_CHAIN;
}

const OF_ALL = `
  SELECT ${EXAMINED} FROM call WHERE id >= $from AND id < $below ORDER BY id DESC LIMIT $examineMax`;

/** The newest calls are not in the list of their account yet, or only some of them. */
const OF_ACCOUNT = `
  SELECT ${EXAMINED} FROM call
  WHERE id > (SELECT value FROM meta WHERE name = 'listed_up_to')
    AND account_id = $accountId AND id >= $from AND id < $below
  UNION ALL
  SELECT * FROM (
    SELECT ${EXAMINED} FROM account_call AS listed CROSS JOIN call ON call.id = listed.id
    WHERE listed.account_id = $accountId AND listed.id >= $from AND listed.id < $below
      AND listed.id <= (SELECT value FROM meta WHERE name = 'listed_up_to')
    ORDER BY listed.id DESC LIMIT $examineMax)`;

/** The id of the chain is spelled exactly as in the index, or SQLite would not use it. */
const IN_CHAIN = `
  SELECT ${EXAMINED} FROM call INDEXED BY call_by_chain
  WHERE account_id = $accountId AND id >= $from AND id < $below
    AND chain IS NOT NULL AND substr(chain, 1, instr(chain, ';') - 1) = $chain
  ORDER BY id DESC LIMIT $examineMax`;

const WANTED = `
  WHERE ($keyId IS NULL OR key_id = $keyId) AND ($personId IS NULL OR person_id = $personId)
    AND ($sinceMs IS NULL OR created_ms >= $sinceMs) AND ($untilMs IS NULL OR created_ms < $untilMs)
    AND ($model IS NULL OR (SELECT id FROM name WHERE text = $model) IN (requested_model, effective_model))
    AND ($chain IS NULL OR substr(chain, 1, instr(chain, ';') - 1) = $chain)
    AND ($route IS NULL OR route = (SELECT id FROM name WHERE text = $route))
    AND ($host IS NULL OR host = (SELECT id FROM name WHERE text = $host))
    AND ($state IS NULL OR state = $state) AND ($ended IS NULL OR ended = $ended)`;
