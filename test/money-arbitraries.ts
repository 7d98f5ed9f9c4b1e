import fc from 'fast-check';
import type { Usage } from '../src/canonical/usage.ts';
import { LIMITS } from '../src/limits.ts';
import type { Price, Rates } from '../src/money/price.ts';

const RATE_MAX = BigInt(LIMITS.rateNanousdPerMillionMax);

/** Free, tiny, usual and absurd rates, because rounding fails for small ones and ranges for large ones. */
const rate = fc.oneof(
  fc.constant(0n),
  fc.bigInt({ min: 1n, max: 5n }),
  fc.bigInt({ min: 1n, max: 100_000_000_000n }),
  fc.bigInt({ min: 1n, max: RATE_MAX }),
);
const cacheRate = fc.option(rate, { nil: null });

export const rates: fc.Arbitrary<Rates> = fc.record({
  inputNanousdPerMillion: rate,
  outputNanousdPerMillion: rate,
  cacheReadNanousdPerMillion: cacheRate,
  cacheWriteNanousdPerMillion: cacheRate,
  cacheWrite1hNanousdPerMillion: cacheRate,
});

/** A few tokens, a usual request, a huge one, and counts that cannot be true. */
export const tokens = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.integer({ min: 0, max: 300_000 }),
  fc.integer({ min: 0, max: 2_000_000_000 }),
);
export const anyTokens = fc.oneof(tokens, fc.maxSafeNat());

const tiers = fc
  .uniqueArray(fc.record({ above: tokens, rates }), { maxLength: 3, selector: (tier) => tier.above })
  .map((rows) => rows.sort((a, b) => a.above - b.above))
  .map((rows) => rows.map((row) => ({ aboveInputTokens: row.above, ...row.rates })));

/** Any price. A tier may cost more or less than the one below it. */
export const price: fc.Arbitrary<Price> = fc
  .record({ base: rates, tiers })
  .map((row) => ({ ...row.base, tiers: row.tiers }));

export const anyUsage: fc.Arbitrary<Usage> = usageOf(anyTokens);

export function usageOf(count: fc.Arbitrary<number>): fc.Arbitrary<Usage> {
  return fc.record({
    freshTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    cacheWrite1hTokens: count,
    outputTokens: count,
    reasoningTokens: count,
  });
}

/** Every way to split at most `inputBound` tokens over the input buckets, with at most `outputBound` of output. */
export function usageWithin(inputBound: number, outputBound: number): fc.Arbitrary<Usage> {
  const upTo = (max: number) =>
    fc.oneof(fc.constant(max), fc.integer({ min: 0, max }), fc.integer({ min: 0, max: Math.min(max, 3) }));
  const input = upTo(inputBound).chain((total) =>
    fc.tuple(upTo(total), upTo(total), upTo(total)).map((cuts) => {
      const [first = 0, second = 0, third = 0] = cuts.sort((a, b) => a - b);
      return [first, second - first, third - second, total - third] as const;
    }),
  );
  return fc.tuple(input, upTo(outputBound)).chain(([[fresh, read, write, write1h], output]) =>
    fc.record({
      freshTokens: fc.constant(fresh),
      cacheReadTokens: fc.constant(read),
      cacheWriteTokens: fc.constant(write),
      cacheWrite1hTokens: fc.constant(write1h),
      outputTokens: fc.constant(output),
      reasoningTokens: fc.integer({ min: 0, max: output }),
    }),
  );
}
