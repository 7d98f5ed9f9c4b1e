import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyTokens, anyUsage, price, rates } from '../../test/money-arbitraries.ts';
import { type Usage, ZERO_USAGE } from '../canonical/usage.ts';
import { costOf } from './cost.ts';
import type { Price } from './price.ts';

const BUCKETS = ['freshTokens', 'cacheReadTokens', 'cacheWriteTokens', 'cacheWrite1hTokens', 'outputTokens'] as const;
const RATES = [
  'inputNanousdPerMillion',
  'outputNanousdPerMillion',
  'cacheReadNanousdPerMillion',
  'cacheWriteNanousdPerMillion',
  'cacheWrite1hNanousdPerMillion',
] as const;

const PRICE: Price = {
  inputNanousdPerMillion: 150_000_000n,
  outputNanousdPerMillion: 600_000_000n,
  cacheReadNanousdPerMillion: 75_000_000n,
  cacheWriteNanousdPerMillion: 187_500_000n,
  cacheWrite1hNanousdPerMillion: 300_000_000n,
  tiers: [],
};
const usage = (counts: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...counts });
const cost = (priced: Price, counts: Partial<Usage>) => costOf(priced, usage(counts)).costNanousd;

describe('the price of a usage', () => {
  it('is the sum of four components, each bucket at its own rate', () => {
    const counts = {
      freshTokens: 10,
      cacheReadTokens: 100,
      cacheWriteTokens: 8,
      cacheWrite1hTokens: 4,
      outputTokens: 7,
    };
    expect(costOf(PRICE, usage(counts))).toEqual({
      components: {
        freshNanousd: 1_500n,
        cacheReadNanousd: 7_500n,
        cacheWriteNanousd: 1_500n + 1_200n,
        outputNanousd: 4_200n,
      },
      costNanousd: 15_900n,
    });
  });

  it('rounds each component up once, the two write buckets together', () => {
    const tiny: Price = { ...PRICE, cacheWriteNanousdPerMillion: 1n, cacheWrite1hNanousdPerMillion: 1n };
    expect(cost(tiny, { cacheWriteTokens: 1, cacheWrite1hTokens: 1 })).toBe(1n);
    expect(cost({ ...tiny, outputNanousdPerMillion: 1n }, { cacheWriteTokens: 1, outputTokens: 1 })).toBe(2n);
  });

  it('uses the input rate if a cache rate is null, and charges nothing if it is zero', () => {
    const counts = { cacheReadTokens: 10, cacheWriteTokens: 10, cacheWrite1hTokens: 10 };
    const none = {
      cacheReadNanousdPerMillion: null,
      cacheWriteNanousdPerMillion: null,
      cacheWrite1hNanousdPerMillion: null,
    };
    const free = { cacheReadNanousdPerMillion: 0n, cacheWriteNanousdPerMillion: 0n, cacheWrite1hNanousdPerMillion: 0n };
    expect(cost({ ...PRICE, ...none }, counts)).toBe(4_500n);
    expect(cost({ ...PRICE, ...free }, counts)).toBe(0n);
  });

  it('does not count reasoning twice: it is a part of the output', () => {
    expect(cost(PRICE, { outputTokens: 9, reasoningTokens: 9 })).toBe(cost(PRICE, { outputTokens: 9 }));
  });

  it('chooses the tier of the whole request by its whole input', () => {
    const tiered: Price = {
      ...PRICE,
      tiers: [
        {
          ...PRICE,
          aboveInputTokens: 100,
          inputNanousdPerMillion: 300_000_000n,
          outputNanousdPerMillion: 1_000_000_000n,
        },
      ],
    };
    const split = (write1h: number) => ({
      freshTokens: 40,
      cacheReadTokens: 30,
      cacheWriteTokens: 20,
      cacheWrite1hTokens: write1h,
    });
    expect(costOf(tiered, usage({ ...split(10), outputTokens: 1 })).components).toMatchObject({
      freshNanousd: 6_000n,
      outputNanousd: 600n,
    });
    expect(costOf(tiered, usage({ ...split(11), outputTokens: 1 })).components).toMatchObject({
      freshNanousd: 12_000n,
      outputNanousd: 1_000n,
    });
  });

  it('uses the highest tier whose threshold the input exceeds', () => {
    const tier = (aboveInputTokens: number, outputNanousdPerMillion: bigint) => ({
      ...PRICE,
      aboveInputTokens,
      outputNanousdPerMillion,
    });
    const tiered: Price = { ...PRICE, tiers: [tier(100, 2_000_000n), tier(200, 3_000_000n)] };
    const output = (freshTokens: number) =>
      costOf(tiered, usage({ freshTokens, outputTokens: 1 })).components.outputNanousd;
    expect([100, 101, 200, 201].map(output)).toEqual([600n, 2n, 2n, 3n]);
  });

  it('is exact for amounts that a float would round', () => {
    const dear = { ...PRICE, outputNanousdPerMillion: 999_999_999_999_999n };
    expect(cost(dear, { outputTokens: Number.MAX_SAFE_INTEGER })).toBe(9_007_199_254_740_981_992_800_746n);
  });
});

describe('for every price and usage, the cost', () => {
  it('is what its components sum to, none of them negative', () => {
    fc.assert(
      fc.property(price, anyUsage, (priced, counts) => {
        const { components, costNanousd } = costOf(priced, counts);
        expect(Object.values(components).reduce((sum, part) => sum + part)).toBe(costNanousd);
        expect(Object.values(components).every((part) => part >= 0n)).toBe(true);
      }),
    );
  });

  it('is each exact product rounded up to the next nanodollar, not further', () => {
    fc.assert(
      fc.property(rates, anyTokens, (base, outputTokens) => {
        const exact = BigInt(outputTokens) * base.outputNanousdPerMillion;
        const rounded = cost({ ...base, tiers: [] }, { outputTokens }) * 1_000_000n;
        expect(rounded).toBeGreaterThanOrEqual(exact);
        expect(rounded - exact).toBeLessThan(1_000_000n);
      }),
    );
  });

  it('does not fall when a bucket grows within a tier', () => {
    fc.assert(
      fc.property(rates, anyUsage, fc.constantFrom(...BUCKETS), anyTokens, (base, counts, bucket, larger) => {
        const flat: Price = { ...base, tiers: [] };
        const [less, more] = [counts[bucket], larger].sort((a, b) => a - b);
        expect(cost(flat, { ...counts, [bucket]: less })).toBeLessThanOrEqual(
          cost(flat, { ...counts, [bucket]: more }),
        );
      }),
    );
  });

  it('does not fall when a rate grows', () => {
    const raise = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(rates, anyUsage, fc.constantFrom(...RATES), raise, (base, counts, name, more) => {
        const flat: Price = { ...base, tiers: [] };
        const raised: Price = { ...flat, [name]: (flat[name] ?? flat.inputNanousdPerMillion) + more };
        expect(cost(flat, counts)).toBeLessThanOrEqual(cost(raised, counts));
      }),
    );
  });

  it('is zero exactly if nothing with a price was used', () => {
    fc.assert(
      fc.property(price, (priced) => {
        expect(costOf(priced, ZERO_USAGE).costNanousd).toBe(0n);
        expect(cost(priced, { outputTokens: 1 }) === 0n).toBe(priced.outputNanousdPerMillion === 0n);
      }),
    );
  });
});
