/** A price as a source states it, in nanodollars per million tokens; null if the source does not know the rate. */
export interface RateFigures {
  input: number;
  output: number;
  cache_read: number | null;
  cache_write: number | null;
  cache_write_1h: number | null;
}

export interface PriceFigures extends RateFigures {
  tiers: ({ above_input_tokens: number } & RateFigures)[];
}

export const RATE_NAMES = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const;

/** Sources write dollars with at most nine decimals, so rounding to the nanodollar only removes floating-point noise. */
export function nanousd(usd: number): number {
  const rate = Math.round(usd * 1e9);
  if (Math.abs(rate - usd * 1e9) > 0.001) throw new Error(`${usd} dollars is no whole number of nanodollars.`);
  return rate;
}

/** The rates of a request with this many input tokens. */
export function ratesAbove(price: PriceFigures, inputTokens: number): RateFigures {
  return price.tiers.findLast((tier) => tier.above_input_tokens <= inputTokens) ?? price;
}

/**
 * If two figures differ, the higher one counts. A price that is too high is noticed and corrected with one line of
 * configuration; a price that is too low costs the operator money on every call until somebody reads the host's invoice.
 * A rate that only one source knows is taken from that one.
 */
export function higherPrice(a: PriceFigures, b: PriceFigures): PriceFigures {
  const tiers = thresholds(a, b).map((above) => ({
    above_input_tokens: above.lowest,
    ...higherRates(ratesAbove(a, above.highest), ratesAbove(b, above.highest)),
  }));
  return { ...higherRates(a, b), tiers };
}

/** One price for a model of several hosts; none may cost more. An unknown cache rate is billed as the input rate. */
export function highestOfHosts(prices: readonly PriceFigures[]): PriceFigures {
  const [first, ...others] = prices.map((price) => mapRates(price, (rate, input) => rate ?? input));
  if (first === undefined) throw new Error('No host has a price.');
  return mapRates(others.reduce(higherPrice, first), (rate, input) => (rate === input ? null : rate));
}

/** The differences in words. A rate that only one source knows is not a difference. */
export function differences(a: PriceFigures, b: PriceFigures): string[] {
  const steps = [{ name: '', a: a as RateFigures, b: b as RateFigures }];
  for (const { highest } of thresholds(a, b)) {
    steps.push({ name: ` above ${highest}`, a: ratesAbove(a, highest), b: ratesAbove(b, highest) });
  }
  return steps.flatMap((step) =>
    RATE_NAMES.filter((rate) => step.a[rate] !== null && step.b[rate] !== null && step.a[rate] !== step.b[rate]).map(
      (rate) => `${rate}${step.name}: ${step.a[rate]} against ${step.b[rate]}`,
    ),
  );
}

/** "From 272,000" in one source and "above 272,000" in the other mean the same threshold. */
function thresholds(a: PriceFigures, b: PriceFigures): { lowest: number; highest: number }[] {
  const all = [...a.tiers, ...b.tiers].map((tier) => tier.above_input_tokens).sort((x, y) => x - y);
  const merged: { lowest: number; highest: number }[] = [];
  for (const at of all) {
    const last = merged.at(-1);
    if (last !== undefined && at - last.lowest <= 1) last.highest = at;
    else merged.push({ lowest: at, highest: at });
  }
  return merged;
}

function higherRates(a: RateFigures, b: RateFigures): RateFigures {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cache_read: higherCacheRate(a.cache_read, b.cache_read),
    cache_write: higherCacheRate(a.cache_write, b.cache_write),
    cache_write_1h: higherCacheRate(a.cache_write_1h, b.cache_write_1h),
  };
}

function higherCacheRate(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function mapRates(price: PriceFigures, change: (rate: number | null, input: number) => number | null): PriceFigures {
  const changed = <Row extends RateFigures>(rates: Row): Row => ({
    ...rates,
    cache_read: change(rates.cache_read, rates.input),
    cache_write: change(rates.cache_write, rates.input),
    cache_write_1h: change(rates.cache_write_1h, rates.input),
  });
  return { ...changed(price), tiers: price.tiers.map(changed) };
}
