import { formatId } from '../kit/ids.ts';
import type { CostComponents, Receipt } from './receipt.ts';
import type { Usage } from './usage.ts';

export interface ReceiptViewOptions {
  /** The operator also sees who served the call and what it may have cost beyond the charge. */
  readonly operator: boolean;
}

/** A receipt as callers read it. Amounts are bigint: write it with `stringifyJson`. */
export function receiptView(receipt: Receipt, { operator }: ReceiptViewOptions): Record<string, unknown> {
  const view = callerView(receipt);
  return operator ? { ...view, ...operatorPart(receipt) } : view;
}

function callerView(receipt: Receipt): Record<string, unknown> {
  return {
    object: 'receipt',
    id: formatId('req_', receipt.id),
    created: Math.floor(receipt.createdMs / 1000),
    route: receipt.route,
    requested_model: receipt.requestedModel,
    effective_model: receipt.effectiveModel,
    status: receipt.state,
    http_status: receipt.httpStatus,
    ended: receipt.ended,
    usage_source: receipt.usageSource,
    hangup_charged: receipt.hangupCharged === true,
    usage: receipt.usage === null ? null : usageView(receipt.usage),
    components: receipt.components === null ? null : componentsView(receipt.components),
    // A cost that is not yet known must not read as free.
    cost_nanousd: receipt.state === 'open' ? null : receipt.costNanousd,
    held_nanousd: receipt.heldNanousd,
    price_version: receipt.priceVersion,
    key: receipt.keyId === null ? null : formatId('key_', receipt.keyId),
    idempotency_key: receipt.idempotencyKey,
    labels: receipt.labels ?? {},
    adjusted: receipt.adjusted,
    chain: receipt.chain,
  };
}

function operatorPart(receipt: Receipt): Record<string, unknown> {
  return {
    account: formatId('acct_', receipt.accountId),
    host: receipt.host,
    attempts: receipt.attempts,
    tries: receipt.tries,
    loss: receipt.lossReason === null ? null : { amount_nanousd: receipt.lossNanousd, reason: receipt.lossReason },
  };
}

function usageView(usage: Usage): Record<string, number> {
  return {
    fresh_tokens: usage.freshTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
  };
}

function componentsView(components: CostComponents): Record<string, bigint> {
  return {
    fresh: components.freshNanousd,
    cache_write: components.cacheWriteNanousd,
    cache_read: components.cacheReadNanousd,
    output: components.outputNanousd,
  };
}
