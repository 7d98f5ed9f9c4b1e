import type { CostComponents, HostTry, Receipt } from '../canonical/receipt.ts';
import type { Usage } from '../canonical/usage.ts';
import { parseJson } from '../json/json.ts';
import { ACCOUNT_KIND, CALL_STATE, CAP_WINDOW, ENDED, USAGE_SOURCE } from './codes.ts';
import type { Account, KeyChange, KeyRow, ProviderKeyRow } from './store.ts';

/** Rows as both engines give them back, every whole number a bigint so that none is ever rounded, and what they say. */
export type Cell = bigint | string | null;

export interface AccountColumns {
  readonly id: bigint;
  readonly name: string;
  readonly kind: bigint;
  readonly created_ms: bigint;
  readonly balance: bigint;
  readonly held: bigint;
  readonly spent: bigint;
}

export function accountOf(row: AccountColumns): Account {
  return {
    id: row.id,
    name: row.name,
    kind: ACCOUNT_KIND.word(row.kind),
    createdMs: Number(row.created_ms),
    balanceNanousd: row.balance,
    heldNanousd: row.held,
    spentNanousd: row.spent,
  };
}

/** The columns that may change, for the members that are there. */
export function keyCells(
  change: Omit<KeyChange, 'revokedMs'> & { readonly revokedMs?: number | null },
): Record<string, Cell> {
  const cells: Record<string, Cell> = {};
  if (change.name !== undefined) cells.name = change.name;
  if (change.capNanousd !== undefined) cells.cap = change.capNanousd;
  if (change.capWindow !== undefined) cells.cap_window = CAP_WINDOW.of[change.capWindow];
  if (change.expiresMs !== undefined) cells.expires_ms = msCell(change.expiresMs);
  if (change.models !== undefined) cells.models = change.models === null ? null : JSON.stringify(change.models);
  if (change.revokedMs !== undefined) cells.revoked_ms = msCell(change.revokedMs);
  return cells;
}

function msCell(ms: number | null): bigint | null {
  return ms === null ? null : BigInt(ms);
}

export interface KeyColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly name: string;
  readonly sha256: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly cap: bigint | null;
  readonly cap_window: bigint;
  readonly expires_ms: bigint | null;
  readonly models: string | null;
  readonly created_ms: bigint;
  readonly revoked_ms: bigint | null;
  readonly version: bigint;
}

export function keyOf(row: KeyColumns): KeyRow {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    sha256Hex: row.sha256,
    prefix: row.prefix,
    lastFour: row.last_four,
    capNanousd: row.cap,
    capWindow: CAP_WINDOW.word(row.cap_window),
    expiresMs: msOf(row.expires_ms),
    models: row.models === null ? null : (parseJson(row.models) as string[]),
    createdMs: Number(row.created_ms),
    revokedMs: msOf(row.revoked_ms),
    version: row.version,
  };
}

function msOf(cell: bigint | null): number | null {
  return cell === null ? null : Number(cell);
}

export const RECEIPT_SELECT = `
  SELECT call.*, price_list.version AS price_version, route_name.text AS route_text, host_name.text AS host_text,
    requested_name.text AS requested_text, effective_name.text AS effective_text
  FROM call
  JOIN price_list ON price_list.id = call.price_id
  JOIN name AS route_name ON route_name.id = call.route
  JOIN name AS requested_name ON requested_name.id = call.requested_model
  JOIN name AS effective_name ON effective_name.id = call.effective_model
  LEFT JOIN name AS host_name ON host_name.id = call.host`;

export interface CallColumns {
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
  readonly tries: string | null;
  readonly loss: bigint | null;
  readonly loss_reason: string | null;
  readonly price_version: string;
  readonly route_text: string;
  readonly requested_text: string;
  readonly effective_text: string;
  readonly host_text: string | null;
}

export function receiptOf(row: CallColumns): Receipt {
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
    tries: row.tries === null ? null : (parseJson(row.tries) as HostTry[]),
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

export interface ProviderKeyColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly provider: string;
  readonly base_url: string;
  readonly last_four: string;
  readonly sealed: Uint8Array;
  readonly created_ms: bigint;
  readonly verified_ms: bigint;
}

export function providerKeyOf(row: ProviderKeyColumns): ProviderKeyRow {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    baseUrl: row.base_url,
    lastFour: row.last_four,
    sealed: row.sealed,
    createdMs: Number(row.created_ms),
    verifiedMs: Number(row.verified_ms),
  };
}
