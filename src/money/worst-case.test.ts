import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { price, rates, tokens, usageWithin } from '../../test/money-arbitraries.ts';
import { randomCases } from '../../test/random-cases.ts';
import type { CacheWrites } from '../canonical/cache-writes.ts';
import type { Usage } from '../canonical/usage.ts';
import { boundOutputTokens } from './bound-tokens.ts';
import { costOf } from './cost.ts';
import { INT64_MAX } from './nanousd.ts';
import type { Price } from './price.ts';
import { largestOutputLimit, worstCase } from './worst-case.ts';

const PRICE: Price = {
  inputNanousdPerMillion: 1_000_000_000n,
  outputNanousdPerMillion: 4_000_000_000n,
  cacheReadNanousdPerMillion: 100_000_000n,
  cacheWriteNanousdPerMillion: 1_250_000_000n,
  cacheWrite1hNanousdPerMillion: null,
  tiers: [],
};
const FREE: Price = {
  ...PRICE,
  inputNanousdPerMillion: 0n,
  cacheReadNanousdPerMillion: null,
  cacheWriteNanousdPerMillion: null,
};

/** The same tokens, with those of other writes counted as fresh. */
function withWrites(usage: Usage, cacheWrites: CacheWrites): Usage {
  const { freshTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  if (cacheWrites === 'one_hour') return usage;
  if (cacheWrites === 'default')
    return { ...usage, freshTokens: freshTokens + cacheWrite1hTokens, cacheWrite1hTokens: 0 };
  const fresh = freshTokens + cacheWriteTokens + cacheWrite1hTokens;
  return { ...usage, freshTokens: fresh, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
}

describe('the worst case', () => {
  it('prices the whole input at the highest rate and the whole limit as output, and adds the rounding of each component', () => {
    expect(worstCase({ price: PRICE, inputBound: 1_000, outputBound: 100 })).toEqual({
      worstNanousd: 1_250_003n + 400_000n,
      inputNanousd: 1_250_003n,
      outputNanousd: 400_000n,
    });
  });

  it('uses the most expensive tier within the bound, even if it is a lower one', () => {
    const cheaperAbove = { ...PRICE, aboveInputTokens: 500, outputNanousdPerMillion: 1n };
    const dearerAbove = { ...PRICE, aboveInputTokens: 500, outputNanousdPerMillion: 8_000_000_000n };
    const worst = (tier: Price['tiers'][number], inputBound: number) =>
      worstCase({ price: { ...PRICE, tiers: [tier] }, inputBound, outputBound: 100 }).outputNanousd;
    expect(worst(cheaperAbove, 1_000)).toBe(400_000n);
    expect(worst(dearerAbove, 501)).toBe(800_000n);
    expect(worst(dearerAbove, 500)).toBe(400_000n);
  });

  it('is zero for a free model, so that an empty balance can call it', () => {
    const free = { ...FREE, outputNanousdPerMillion: 0n };
    expect(worstCase({ price: free, inputBound: 1_000_000, outputBound: 4_096 }).worstNanousd).toBe(0n);
  });

  it('stays exact beyond the range of the ledger instead of wrapping or being cut off', () => {
    const dear = { ...FREE, outputNanousdPerMillion: 10n ** 15n };
    const { worstNanousd } = worstCase({ price: dear, inputBound: 0, outputBound: Number.MAX_SAFE_INTEGER });
    expect(worstNanousd).toBe(BigInt(Number.MAX_SAFE_INTEGER) * 10n ** 9n);
    expect(worstNanousd).toBeGreaterThan(INT64_MAX);
  });

  it('is never less than any usage within the bounds costs: all tiers, buckets, null rates, choices', () => {
    const choices = fc.integer({ min: 1, max: 8 });
    const scenario = fc.tuple(price, tokens, tokens, choices).chain(([priced, inputBound, outputLimit, n]) => {
      const outputBound = boundOutputTokens(outputLimit, { choices: n });
      return fc.record({
        bounds: fc.constant({ price: priced, inputBound, outputBound }),
        usage: usageWithin(inputBound, outputBound),
      });
    });
    fc.assert(
      fc.property(scenario, ({ bounds, usage }) => {
        expect(costOf(bounds.price, usage).costNanousd).toBeLessThanOrEqual(worstCase(bounds).worstNanousd);
      }),
      { numRuns: randomCases(2_000) },
    );
  });

  it('leaves out the rates of cache writes that the call cannot cause', () => {
    const marked: Price = { ...PRICE, cacheWrite1hNanousdPerMillion: 2_000_000_000n };
    const inputAt = (cacheWrites: CacheWrites) =>
      worstCase({ price: marked, inputBound: 1_000, outputBound: 0, cacheWrites }).inputNanousd;
    expect([inputAt('none'), inputAt('default'), inputAt('one_hour')]).toEqual([1_000_003n, 1_250_003n, 2_000_003n]);
    const { inputNanousd } = worstCase({ price: marked, inputBound: 1_000, outputBound: 0 });
    expect(inputNanousd).toBe(inputAt('one_hour'));
  });

  it('is never less than any usage costs that has only the cache writes it was told of', () => {
    const kinds = fc.constantFrom<CacheWrites>('none', 'default', 'one_hour');
    const scenario = fc.tuple(price, tokens, tokens, kinds).chain(([priced, inputBound, outputBound, cacheWrites]) =>
      fc.record({
        bounds: fc.constant({ price: priced, inputBound, outputBound, cacheWrites }),
        usage: usageWithin(inputBound, outputBound).map((usage) => withWrites(usage, cacheWrites)),
      }),
    );
    fc.assert(
      fc.property(scenario, ({ bounds, usage }) => {
        expect(costOf(bounds.price, usage).costNanousd).toBeLessThanOrEqual(worstCase(bounds).worstNanousd);
      }),
      { numRuns: randomCases(2_000) },
    );
  });

  it('covers single tokens that are each rounded up in their own component', () => {
    const tiny = {
      ...PRICE,
      inputNanousdPerMillion: 1n,
      cacheReadNanousdPerMillion: 1n,
      cacheWriteNanousdPerMillion: 1n,
    };
    const usage = {
      freshTokens: 1,
      cacheReadTokens: 1,
      cacheWriteTokens: 1,
      cacheWrite1hTokens: 1,
      outputTokens: 0,
      reasoningTokens: 0,
    };
    expect(costOf(tiny, usage).costNanousd).toBe(3n);
    expect(worstCase({ price: tiny, inputBound: 4, outputBound: 0 }).worstNanousd).toBe(4n);
  });

  it('sums to its two parts, and grows with both bounds', () => {
    fc.assert(
      fc.property(price, tokens, tokens, tokens, (priced, inputBound, outputBound, more) => {
        const worst = worstCase({ price: priced, inputBound, outputBound });
        expect(worst.inputNanousd + worst.outputNanousd).toBe(worst.worstNanousd);
        for (const larger of [{ inputBound: inputBound + more }, { outputBound: outputBound + more }]) {
          const { worstNanousd } = worstCase({ price: priced, inputBound, outputBound, ...larger });
          expect(worstNanousd).toBeGreaterThanOrEqual(worst.worstNanousd);
        }
      }),
    );
  });
});

describe('the largest output limit that fits', () => {
  it('is what remains after the input, shared by the choices', () => {
    const input = { price: PRICE, inputBound: 1_000, availableNanousd: 1_250_003n + 400_000n };
    expect(largestOutputLimit({ ...input, choices: 1 })).toBe(100);
    expect(largestOutputLimit({ ...input, choices: 3 })).toBe(33);
  });

  it('is null if not even one token fits, or if the input alone costs too much', () => {
    const input = { price: PRICE, inputBound: 1_000, choices: 1 };
    expect(largestOutputLimit({ ...input, availableNanousd: 1_250_003n + 3_999n })).toBeNull();
    expect(largestOutputLimit({ ...input, availableNanousd: 1_000n })).toBeNull();
    expect(largestOutputLimit({ ...input, availableNanousd: -1n })).toBeNull();
    const freeOutput = { ...PRICE, outputNanousdPerMillion: 0n };
    expect(largestOutputLimit({ ...input, price: freeOutput, availableNanousd: 1_250_002n })).toBeNull();
  });

  it('is unlimited for free output', () => {
    const free = { ...FREE, outputNanousdPerMillion: 0n };
    expect(largestOutputLimit({ price: free, inputBound: 9, choices: 2, availableNanousd: 0n })).toBe(
      Math.floor(Number.MAX_SAFE_INTEGER / 2),
    );
  });

  it('is exactly the inverse of the worst case', () => {
    const available = fc.oneof(
      fc.bigInt({ min: 0n, max: 10n }),
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.bigInt({ min: 0n, max: INT64_MAX }),
    );
    const shape = fc.record({
      choices: fc.integer({ min: 1, max: 128 }),
    });
    fc.assert(
      fc.property(price, tokens, shape, available, (priced, inputBound, output, availableNanousd) => {
        const fits = (limit: number) => {
          const outputBound = boundOutputTokens(limit, output);
          return worstCase({ price: priced, inputBound, outputBound }).worstNanousd <= availableNanousd;
        };
        const limit = largestOutputLimit({ price: priced, inputBound, availableNanousd, ...output });
        expect(fits(limit ?? 1)).toBe(limit !== null);
        if (limit === null) return;
        if (Number.isSafeInteger((limit + 1) * output.choices)) expect(fits(limit + 1)).toBe(false);
      }),
      { numRuns: randomCases(1_000) },
    );
  });

  it('finds the edge to the nanodollar', () => {
    const limits = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(rates, tokens, limits, (base, inputBound, limit) => {
        fc.pre(base.outputNanousdPerMillion >= 1_000_000n);
        const flat: Price = { ...base, tiers: [] };
        const { worstNanousd } = worstCase({ price: flat, inputBound, outputBound: limit });
        fc.pre(worstNanousd <= INT64_MAX);
        const largest = (availableNanousd: bigint) =>
          largestOutputLimit({ price: flat, inputBound, choices: 1, availableNanousd });
        expect(largest(worstNanousd)).toBe(limit);
        expect(largest(worstNanousd - 1n)).toBe(limit === 1 ? null : limit - 1);
      }),
    );
  });
});
