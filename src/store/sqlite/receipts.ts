import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CostComponents, Receipt } from '../../canonical/receipt.ts';
import type { Usage } from '../../canonical/usage.ts';
import { parseJson } from '../../kit/json.ts';
import { fitsInt64, INT64_MAX } from '../int64.ts';
import type { Page, ReceiptFilter } from '../store.ts';
import { CALL_STATE, ENDED, USAGE_SOURCE } from './codes.ts';
import { limitOf } from './page.ts';

const SELECT = `
  SELECT call.*, price_list.version AS price_version, route_name.text AS route_text, host_name.text AS host_text,
    requested_name.text AS requested_text, effective_name.text AS effective_text
  FROM call
  JOIN price_list ON price_list.id = call.price_id
  JOIN name AS route_name ON route_name.id = call.route
  JOIN name AS requested_name ON requested_name.id = call.requested_model
  JOIN name AS effective_name ON effective_name.id = call.effective_model
  LEFT JOIN name AS host_name ON host_name.id = call.host`;

interface CallColumns {
  readonly id: bigint;
  readonly state: bigint;
  readonly account_id: bigint;
  readonly key_id: bigint | null;
  readonly held: bigint;
  readonly cost: bigint;
  readonly stream: bigint;
  readonly created_ms: bigint;
  readonly labels: string | null;
  readonly idempotency_key: string | null;
  readonly ended_ms: bigint | null;
  readonly ended: bigint | null;
  readonly http_status: bigint | null;
  readonly usage_source: bigint | null;
  readonly fresh_tokens: bigint | null;
  readonly cache_read_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly cache_write_1h_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly fresh: bigint | null;
  readonly cache_write: bigint;
  readonly cache_read: bigint;
  readonly output: bigint;
  readonly attempts: bigint | null;
  readonly loss: bigint | null;
  readonly loss_reason: string | null;
  readonly price_version: string;
  readonly route_text: string;
  readonly requested_text: string;
  readonly effective_text: string;
  readonly host_text: string | null;
}

export class ReceiptReader {
  readonly #database: DatabaseSync;
  readonly #byId: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#byId = database.prepare(`${SELECT} WHERE call.id = ?`);
  }

  find(id: bigint, accountId: bigint | null): Receipt | null {
    const row = fitsInt64(id) ? (this.#byId.get(id) as unknown as CallColumns | undefined) : undefined;
    if (row === undefined || (accountId !== null && row.account_id !== accountId)) return null;
    return receiptOf(row);
  }

  /** Reads backwards from the newest id; a filter of a rarely used account may read far, so this is a thread's work. */
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
    const sql = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY call.id DESC LIMIT ?`;
    const rows = this.#database.prepare(sql).all(...values, limitOf(page)) as unknown as CallColumns[];
    return rows.map(receiptOf);
  }
}

function receiptOf(row: CallColumns): Receipt {
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    state: CALL_STATE.word(row.state),
    route: row.route_text,
    stream: row.stream === 1n,
    requestedModel: row.requested_text,
    effectiveModel: row.effective_text,
    priceVersion: row.price_version,
    heldNanousd: row.held,
    createdMs: Number(row.created_ms),
    labels: row.labels === null ? null : (parseJson(row.labels) as Record<string, string>),
    idempotencyKey: row.idempotency_key,
    endedMs: row.ended_ms === null ? null : Number(row.ended_ms),
    ended: row.ended === null ? null : ENDED.word(row.ended),
    httpStatus: row.http_status === null ? null : Number(row.http_status),
    usageSource: USAGE_SOURCE.word(row.usage_source ?? 0n),
    usage: usageOf(row),
    components: componentsOf(row),
    costNanousd: row.cost,
    host: row.host_text,
    attempts: Number(row.attempts ?? 0n),
    lossNanousd: row.loss ?? 0n,
    lossReason: row.loss_reason,
  };
}

function usageOf(row: CallColumns): Usage | null {
  if (row.fresh_tokens === null) return null;
  return {
    freshTokens: Number(row.fresh_tokens),
    cacheReadTokens: Number(row.cache_read_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    cacheWrite1hTokens: Number(row.cache_write_1h_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
  };
}

function componentsOf(row: CallColumns): CostComponents | null {
  if (row.fresh === null) return null;
  return {
    freshNanousd: row.fresh,
    cacheWriteNanousd: row.cache_write,
    cacheReadNanousd: row.cache_read,
    outputNanousd: row.output,
  };
}
