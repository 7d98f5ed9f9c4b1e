/** What a caller can do without us: price a usage object from the public catalog, in exact integers. */

export interface PublicRates {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number | null;
  readonly cache_write: number | null;
}

export interface PublicPricing extends PublicRates {
  readonly tiers?: readonly (PublicRates & { readonly above_input_tokens: number })[];
}

export interface TokenCounts {
  readonly fresh: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

export interface Priced {
  readonly fresh: bigint;
  readonly cache_write: bigint;
  readonly cache_read: bigint;
  readonly output: bigint;
  readonly total: bigint;
}

export function priceCounts(pricing: PublicPricing, counts: TokenCounts): Priced {
  const inputSide = counts.fresh + counts.cacheRead + counts.cacheWrite;
  const rates = pricing.tiers?.findLast((tier) => inputSide > tier.above_input_tokens) ?? pricing;
  const fresh = perMillion(counts.fresh, rates.input);
  const cache_read = perMillion(counts.cacheRead, rates.cache_read ?? rates.input);
  const cache_write = perMillion(counts.cacheWrite, rates.cache_write ?? rates.input);
  const output = perMillion(counts.output, rates.output);
  return { fresh, cache_write, cache_read, output, total: fresh + cache_read + cache_write + output };
}

function perMillion(tokens: number, rate: number): bigint {
  return (BigInt(tokens) * BigInt(rate) + 999_999n) / 1_000_000n;
}

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?:
    | { readonly cached_tokens?: number | undefined; readonly cache_write_tokens?: number | undefined }
    | undefined;
}

/** The chat wire's usage in disjoint buckets: cached tokens are part of the prompt's. */
export function countsOf(usage: ChatUsage): TokenCounts {
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    fresh: usage.prompt_tokens - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: usage.completion_tokens,
  };
}

/** `fresh=1,cache_write=2,…` as numbers; throws if it is anything else. */
export function readComponents(header: string | null): Record<string, bigint> {
  const match = /^fresh=(\d+),cache_write=(\d+),cache_read=(\d+),output=(\d+)$/.exec(header ?? '');
  if (match === null) throw new Error(`Not a components header: ${header}`);
  const [fresh, cache_write, cache_read, output] = match.slice(1).map(BigInt);
  return { fresh: fresh!, cache_write: cache_write!, cache_read: cache_read!, output: output! };
}
