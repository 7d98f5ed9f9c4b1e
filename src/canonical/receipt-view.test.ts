import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../json/stringify.ts';
import { formatId } from '../kit/ids.ts';
import type { Receipt } from './receipt.ts';
import { operatorReceiptView, receiptView } from './receipt-view.ts';
import { ZERO_USAGE } from './usage.ts';

const SETTLED: Receipt = {
  id: 1_234n,
  accountId: 7n,
  keyId: 9n,
  personId: null,
  state: 'settled',
  route: '/v1/chat/completions',
  stream: false,
  requestedModel: 'vendor/some-model',
  effectiveModel: 'some-model',
  priceVersion: 'p1',
  heldNanousd: 5_000n,
  createdMs: 1_790_000_000_999,
  labels: { user: 'u1' },
  chain: 'plan-7;2',
  idempotencyKey: null,
  endedMs: 1_790_000_002_000,
  ended: 'complete',
  httpStatus: 200,
  usageSource: 'reported',
  usage: { ...ZERO_USAGE, freshTokens: 3, outputTokens: 2, reasoningTokens: 1 },
  components: { freshNanousd: 30n, cacheWriteNanousd: 0n, cacheReadNanousd: 0n, outputNanousd: 200n },
  costNanousd: 230n,
  host: 'some-host',
  attempts: 2,
  tries: [
    { host: 'first-host', outcome: 'unavailable 500', ms: 3 },
    { host: 'some-host', outcome: 'complete', ms: 40 },
  ],
  lossNanousd: 0n,
  lossReason: null,
  hangupCharged: null,
  adjusted: null,
  firstByteMs: 412,
};
const view = (receipt: Partial<Receipt>, operator = false) =>
  (operator ? operatorReceiptView : receiptView)({ ...SETTLED, ...receipt });

describe('a receipt', () => {
  it('shows callers what they were charged, for what, and why', () => {
    expect(view({})).toEqual({
      object: 'receipt',
      id: formatId('req_', 1_234n),
      created: 1_790_000_000,
      route: '/v1/chat/completions',
      requested_model: 'vendor/some-model',
      effective_model: 'some-model',
      status: 'settled',
      http_status: 200,
      ended: 'complete',
      usage_source: 'reported',
      hangup_charged: false,
      usage: {
        fresh_tokens: 3,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        cache_write_1h_tokens: 0,
        output_tokens: 2,
        reasoning_tokens: 1,
      },
      components: { fresh: 30n, cache_write: 0n, cache_read: 0n, output: 200n },
      cost_nanousd: 230n,
      refunded_nanousd: 0n,
      held_nanousd: 5_000n,
      price_version: 'p1',
      key: formatId('key_', 9n),
      idempotency_key: null,
      labels: { user: 'u1' },
      adjusted: null,
      chain: 'plan-7;2',
      first_byte_ms: 412,
    });
  });

  it('keeps host, attempts and loss for the operator', () => {
    expect(JSON.stringify(view({}), (_, value) => String(value))).not.toContain('-host');
    expect(view({}, true)).toMatchObject({
      account: formatId('acct_', 7n),
      duration_ms: 1_001,
      host: 'some-host',
      attempts: 2,
      tries: SETTLED.tries,
      loss: null,
    });
    expect(view({ lossNanousd: 9n, lossReason: 'host_usage_unusable' }, true)).toMatchObject({
      loss: { amount_nanousd: 9n, reason: 'host_usage_unusable' },
    });
  });

  it('does not call an open call free: its cost is null', () => {
    const open = view({
      state: 'open',
      ended: null,
      httpStatus: null,
      usage: null,
      usageSource: 'none',
      components: null,
      costNanousd: 0n,
    });
    expect(open).toMatchObject({ status: 'open', cost_nanousd: null, components: null, usage: null, ended: null });
    expect(view({ state: 'voided', costNanousd: 0n })).toMatchObject({ status: 'voided', cost_nanousd: 0n });
  });

  it('has no key in local mode, and neither labels nor a chain if none were sent', () => {
    expect(view({ keyId: null, labels: null, chain: null })).toMatchObject({ key: null, labels: {}, chain: null });
  });

  it('writes amounts as JSON integers, digit for digit', () => {
    expect(stringifyJson(view({ heldNanousd: 9_007_199_254_740_993n }))).toContain('"held_nanousd":9007199254740993,');
  });
});
