import { formatId } from '../kit/ids.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX, REQUEST_PREFIX } from './id-prefixes.ts';
import type { CostComponents, Ended, HostTry, Receipt, ReceiptState, UsageSource } from './receipt.ts';
import type { Usage } from './usage.ts';

/** Times are in seconds since 1970. */
export interface ReceiptView {
  readonly object: 'receipt';
  readonly id: string;
  readonly created: number;
  readonly route: string;
  readonly requested_model: string;
  readonly effective_model: string;
  readonly status: ReceiptState;
  readonly http_status: number | null;
  readonly ended: Ended | null;
  readonly usage_source: UsageSource;
  readonly hangup_charged: boolean;
  readonly usage: UsageView | null;
  readonly components: ComponentsView | null;
  /** Null while the call runs. */
  readonly cost_nanousd: bigint | null;
  /** How much of the cost the operator has refunded. */
  readonly refunded_nanousd: bigint;
  readonly held_nanousd: bigint;
  readonly price_version: string;
  readonly key: string | null;
  readonly idempotency_key: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly adjusted: string | null;
  readonly chain: string | null;
  /** When the first content of a stream came, in milliseconds from the hold; null for a buffered call. */
  readonly first_byte_ms: number | null;
}

/** The operator also sees who served the call and what it may have cost beyond the charge. */
export interface OperatorReceiptView extends ReceiptView {
  readonly account: string;
  /** From the hold to the settlement; null while the call runs. */
  readonly duration_ms: number | null;
  readonly host: string | null;
  readonly attempts: number;
  readonly tries: readonly HostTry[] | null;
  readonly loss: { readonly amount_nanousd: bigint; readonly reason: string } | null;
}

interface UsageView {
  readonly fresh_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly cache_write_1h_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

/** Nanodollars. */
interface ComponentsView {
  readonly fresh: bigint;
  readonly cache_write: bigint;
  readonly cache_read: bigint;
  readonly output: bigint;
}

/** A receipt as callers read it. Amounts are bigint: write it with `stringifyJson`. */
export function receiptView(receipt: Receipt, refundedNanousd = 0n): ReceiptView {
  return {
    object: 'receipt',
    id: formatId(REQUEST_PREFIX, receipt.id),
    created: toSeconds(receipt.createdMs),
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
    refunded_nanousd: refundedNanousd,
    held_nanousd: receipt.heldNanousd,
    price_version: receipt.priceVersion,
    key: receipt.keyId === null ? null : formatId(KEY_PREFIX, receipt.keyId),
    idempotency_key: receipt.idempotencyKey,
    labels: receipt.labels ?? {},
    adjusted: receipt.adjusted,
    chain: receipt.chain,
    first_byte_ms: receipt.firstByteMs,
  };
}

export function operatorReceiptView(receipt: Receipt, refundedNanousd = 0n): OperatorReceiptView {
  const { lossNanousd, lossReason } = receipt;
  return {
    ...receiptView(receipt, refundedNanousd),
    account: formatId(ACCOUNT_PREFIX, receipt.accountId),
    duration_ms: receipt.endedMs === null ? null : Math.max(0, receipt.endedMs - receipt.createdMs),
    host: receipt.host,
    attempts: receipt.attempts,
    tries: receipt.tries,
    loss: lossReason === null ? null : { amount_nanousd: lossNanousd, reason: lossReason },
  };
}

function usageView(usage: Usage): UsageView {
  return {
    fresh_tokens: usage.freshTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
  };
}

function componentsView(components: CostComponents): ComponentsView {
  return {
    fresh: components.freshNanousd,
    cache_write: components.cacheWriteNanousd,
    cache_read: components.cacheReadNanousd,
    output: components.outputNanousd,
  };
}
