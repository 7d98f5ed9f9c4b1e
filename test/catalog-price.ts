/** What a caller can compute alone: the price of a usage object from the public catalog, in exact integers. */

interface PublicRates {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number | null;
  readonly cache_write: number | null;
  readonly cache_write_1h: number | null;
}

export interface PublicPricing extends PublicRates {
  readonly tiers?: readonly (PublicRates & { readonly above_input_tokens: number })[];
}

export interface TokenCounts {
  readonly fresh: number;
  readonly cacheRead: number;
  /** All cache writes; the second count is the part of them that is kept for an hour. */
  readonly cacheWrite: number;
  readonly cacheWrite1h?: number;
  readonly output: number;
}

interface Priced {
  readonly fresh: bigint;
  readonly cache_write: bigint;
  readonly cache_read: bigint;
  readonly output: bigint;
  readonly total: bigint;
}

export function priceCounts(pricing: PublicPricing, counts: TokenCounts): Priced {
  const { cacheWrite1h = 0 } = counts;
  const inputSide = counts.fresh + counts.cacheRead + counts.cacheWrite;
  const rates = pricing.tiers?.findLast((tier) => inputSide > tier.above_input_tokens) ?? pricing;
  const fresh = perMillion(counts.fresh, rates.input);
  const cache_read = perMillion(counts.cacheRead, rates.cache_read ?? rates.input);
  const cache_write = roundUp(
    BigInt(counts.cacheWrite - cacheWrite1h) * BigInt(rates.cache_write ?? rates.input) +
      BigInt(cacheWrite1h) * BigInt(rates.cache_write_1h ?? rates.input),
  );
  const output = perMillion(counts.output, rates.output);
  return { fresh, cache_write, cache_read, output, total: fresh + cache_read + cache_write + output };
}

function perMillion(tokens: number, rate: number): bigint {
  return roundUp(BigInt(tokens) * BigInt(rate));
}

function roundUp(tokensTimesRate: bigint): bigint {
  return (tokensTimesRate + 999_999n) / 1_000_000n;
}

interface CacheDetails {
  readonly cached_tokens?: number | undefined;
  readonly cache_write_tokens?: number | undefined;
  readonly cache_write_1h_tokens?: number | undefined;
}

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: CacheDetails | undefined;
}

/** The chat wire's usage in disjoint buckets: cached tokens are part of the prompt's. */
export function countsOf(usage: ChatUsage): TokenCounts {
  return inclusiveCounts(usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details);
}

export interface ResponsesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: CacheDetails;
}

export function countsOfResponse(usage: ResponsesUsage): TokenCounts {
  return inclusiveCounts(usage.input_tokens, usage.output_tokens, usage.input_tokens_details);
}

function inclusiveCounts(input: number, output: number, details: CacheDetails = {}): TokenCounts {
  const { cached_tokens: cacheRead = 0, cache_write_tokens: cacheWrite = 0, cache_write_1h_tokens = 0 } = details;
  return { fresh: input - cacheRead - cacheWrite, cacheRead, cacheWrite, cacheWrite1h: cache_write_1h_tokens, output };
}

export interface MessagesUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: { readonly ephemeral_1h_input_tokens: number } | null;
  readonly output_tokens: number;
}

/** The messages wire's input count does not include the cache. */
export function countsOfMessage(usage: MessagesUsage): TokenCounts {
  return {
    fresh: usage.input_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
    cacheWrite1h: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    output: usage.output_tokens,
  };
}

/** `fresh=1,cache_write=2,…` as numbers; throws if it is anything else. */
export function readComponents(header: string | null): Record<string, bigint> {
  const match = /^fresh=(\d+),cache_write=(\d+),cache_read=(\d+),output=(\d+)$/.exec(header ?? '');
  if (match === null) throw new Error(`Not a components header: ${header}`);
  const [fresh, cache_write, cache_read, output] = match.slice(1).map(BigInt);
  return { fresh: fresh!, cache_write: cache_write!, cache_read: cache_read!, output: output! };
}
