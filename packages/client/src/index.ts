export { type Call, type Client, createClient, type StreamedCall } from './client.ts';
export { TollgateError } from './errors.ts';
export {
  type Attempt,
  type DataOf,
  type FallbackAnswer,
  FallbackError,
  type FallbackOptions,
  fallback,
  type MemberSpec,
} from './fallback.ts';
export type { Fetch } from './fetch.ts';
export type { JobQuery, Jobs, PageQuery } from './jobs.ts';
export type { Member } from './member.ts';
export { type Meter, type MeteredFetchOptions, meteredFetch } from './metered-fetch.ts';
export { formatUsd, usd } from './money.ts';
export type { CostComponents, PendingReceipt, Receipt, ReceiptUsage, SettledReceipt } from './receipt.ts';
export { type RetryOptions, retryingFetch, type Wait } from './retry.ts';
export type { CallStream } from './stream.ts';
export type { Answer, CallOptions, ClientOptions } from './transport.ts';
export type * from './types.ts';
