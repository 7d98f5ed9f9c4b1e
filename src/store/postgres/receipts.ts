import type { Receipt } from '../../canonical/receipt.ts';
import { idRangeOf, nextOf } from '../account-receipts.ts';
import { fitsInt64, INT64_MAX } from '../int64.ts';
import { limitOf } from '../page.ts';
import { RECEIPT_SELECT, type ReceiptColumns, receiptOf } from '../receipt-columns.ts';
import { codesOf } from '../receipt-filter-codes.ts';
import type { AccountReceiptFilter, Page, ReceiptFilter, ReceiptPage, ReceiptSlice } from '../store.ts';
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

  /**
   * Finds the ids first, so that only the rows of the page are read whole. Open calls are few and come from their own
   * index: an index over all calls would have to be written twice per call.
   */
  async listOfAccount(filter: AccountReceiptFilter, page: ReceiptPage): Promise<ReceiptSlice> {
    const { accountId, keyId, sinceMs, untilMs, model, chain, route = null, host = null, personId = null } = filter;
    const { state, ended } = codesOf(filter);
    const { from, below } = idRangeOf(filter, page);
    const rows = await this.#connections.query<{ id: bigint; matches: boolean }>(
      `WITH examined AS (
         SELECT * FROM (${examinedBy(filter)}) AS call ORDER BY id DESC LIMIT $4
       ), marked AS (
         SELECT id, ($6::int8 IS NULL OR key_id = $6) AND ($7::int8 IS NULL OR created_ms >= $7)
           AND ($8::int8 IS NULL OR created_ms < $8) AND ($9::text IS NULL
             OR (SELECT id FROM name WHERE text = $9) IN (requested_model, effective_model))
           AND ($10::text IS NULL OR split_part(chain, ';', 1) = $10)
           AND ($11::text IS NULL OR route = (SELECT id FROM name WHERE text = $11))
           AND ($12::text IS NULL OR host = (SELECT id FROM name WHERE text = $12))
           AND ($13::int8 IS NULL OR state = $13) AND ($14::int8 IS NULL OR ended = $14)
           AND ($15::int8 IS NULL OR person_id = $15) AS matches
         FROM examined
       )
       (SELECT id, true AS matches FROM marked WHERE matches ORDER BY id DESC LIMIT $5)
       UNION ALL (SELECT id, false FROM marked ORDER BY id DESC LIMIT 1 OFFSET $4 - 1)`,
      [
        ...[accountId, from, below, page.examineMax, page.limit + 1, keyId, sinceMs, untilMs, model],
        ...[chain, route, host, state, ended, personId],
      ],
    );
    const ids = rows.filter(({ matches }) => matches).map(({ id }) => id);
    const last = rows.find(({ matches }) => !matches)?.id ?? null;
    const shown = ids.slice(0, page.limit);
    return { receipts: await this.#findAll(shown, accountId), next: nextOf(ids, page.limit, last) };
  }

  async #findAll(ids: readonly bigint[], accountId: bigint | null): Promise<Receipt[]> {
    const sql = `${RECEIPT_SELECT} WHERE call.id = ANY ($1::int8[]) AND ($2::int8 IS NULL OR call.account_id = $2) ORDER BY call.id DESC`;
    return ids.length === 0
      ? []
      : (await this.#connections.query<ReceiptColumns>(sql, [ids, accountId])).map(receiptOf);
  }
}

const EXAMINED =
  'id, key_id, person_id, created_ms, requested_model, effective_model, chain, route, host, state, ended';
const NEWEST = `SELECT ${EXAMINED} FROM call WHERE account_id = $1 AND id >= $2 AND id < $3`;
const OF_ALL = `SELECT ${EXAMINED} FROM call WHERE $1::int8 IS NULL AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4`;
const SETTLED_OR_OPEN = ['state <> 1', 'state = 1']
  .map((state) => `(${NEWEST} AND ${state} ORDER BY id DESC LIMIT $4)`)
  .join(' UNION ALL ');

function examinedBy({ accountId, chain }: AccountReceiptFilter): string {
  if (accountId === null) return OF_ALL;
  return chain === null ? SETTLED_OR_OPEN : IN_CHAIN;
}

/** Spelled exactly as in the index, or PostgreSQL would not use it. */
const IN_CHAIN = `${NEWEST} AND chain IS NOT NULL AND split_part(chain, ';', 1) = $10`;
