import type { Usage } from './usage.ts';

/** How a call ended; docs/endings.md says what each ending costs. */
export const ENDINGS = [
  'complete',
  'failed',
  'upstream_error',
  'timeout',
  'shutdown',
  'client_gone',
  'stalled',
  'died',
] as const;
export type Ended = (typeof ENDINGS)[number];

/** Where the billed usage came from; `none` means that nothing was billed and nothing is known. */
export const USAGE_SOURCES = ['reported', 'partial', 'estimated', 'drained', 'none'] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

/** Four integers that sum exactly to the cost. */
export interface CostComponents {
  readonly freshNanousd: bigint;
  readonly cacheWriteNanousd: bigint;
  readonly cacheReadNanousd: bigint;
  readonly outputNanousd: bigint;
}

/** One host that was asked for a call: what came of it, and after how long. */
export interface HostTry {
  readonly host: string;
  readonly outcome: string;
  readonly ms: number;
}

export type ReceiptState = 'open' | 'settled' | 'voided';

/** The durable account of one call: the hold, then the entry that replaced it. Ids are text only at the edge. */
export interface Receipt {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly state: ReceiptState;
  readonly route: string;
  readonly stream: boolean;
  readonly requestedModel: string;
  readonly effectiveModel: string;
  readonly priceVersion: string;
  readonly heldNanousd: bigint;
  readonly createdMs: number;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly idempotencyKey: string | null;
  /** Everything below is null or zero while the hold is open. */
  readonly endedMs: number | null;
  readonly ended: Ended | null;
  readonly httpStatus: number | null;
  readonly usageSource: UsageSource;
  readonly usage: Usage | null;
  readonly components: CostComponents | null;
  readonly costNanousd: bigint;
  /** The operator's view: who served, how often we tried, what we lost and why. */
  readonly host: string | null;
  readonly attempts: number;
  /** Each attempt, where there was more than one. */
  readonly tries: readonly HostTry[] | null;
  readonly lossNanousd: bigint;
  readonly lossReason: string | null;
}

/** What settling adds to an open hold. `gateway/meter` is the only maker. */
export type Settlement = Pick<
  Receipt,
  | 'ended'
  | 'httpStatus'
  | 'usageSource'
  | 'usage'
  | 'components'
  | 'costNanousd'
  | 'host'
  | 'attempts'
  | 'tries'
  | 'lossNanousd'
  | 'lossReason'
> & { readonly ended: Ended; readonly httpStatus: number };

/** What a receipt says of money while its hold is open, and of a call that costs nothing. */
export const NOTHING_SETTLED = {
  usageSource: 'none',
  usage: null,
  components: null,
  costNanousd: 0n,
  host: null,
  attempts: 0,
  tries: null,
  lossNanousd: 0n,
  lossReason: null,
} as const;
