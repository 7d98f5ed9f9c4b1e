/** A price as a source states it, in nanodollars per million tokens; null where the source does not know the rate. */
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

/** Sources write dollars with at most nine decimals, so rounding to the nanodollar only removes the noise of floats. */
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
 * Where two figures differ the dearer one counts: a price too high is seen and corrected with one line of configuration,
 * a price too low is paid by the operator on every call until somebody reads the host's invoice.
 * A rate only one of them knows is taken from that one.
 */
export function dearer(a: PriceFigures, b: PriceFigures): PriceFigures {
  const tiers = thresholds(a, b).map((above) => ({
    above_input_tokens: above.lowest,
    ...dearerRates(ratesAbove(a, above.highest), ratesAbove(b, above.highest)),
  }));
  return { ...dearerRates(a, b), tiers };
}

/** One price for a model of several hosts: no host may cost more than it. Here an unknown cache rate is the input rate it is billed at. */
export function dearestOfHosts(prices: readonly PriceFigures[]): PriceFigures {
  const [first, ...others] = prices.map((price) => mapRates(price, (rate, input) => rate ?? input));
  if (first === undefined) throw new Error('No host has a price.');
  return mapRates(others.reduce(dearer, first), (rate, input) => (rate === input ? null : rate));
}

/** What the two disagree about, as words; rates only one of them knows are no disagreement. */
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

/** One threshold written "from 272,000" by one source and "above 272,000" by the other is the same threshold. */
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

function dearerRates(a: RateFigures, b: RateFigures): RateFigures {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cache_read: dearerCacheRate(a.cache_read, b.cache_read),
    cache_write: dearerCacheRate(a.cache_write, b.cache_write),
    cache_write_1h: dearerCacheRate(a.cache_write_1h, b.cache_write_1h),
  };
}

function dearerCacheRate(a: number | null, b: number | null): number | null {
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
