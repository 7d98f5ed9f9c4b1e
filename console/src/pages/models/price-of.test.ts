import { expect, test } from 'vitest';
import { costLines, parseTokens, ratesFor } from './price-of.ts';

const usd = { prompt: '', completion: '', input_cache_read: '', input_cache_write: '' };
const rates = { input: 3_000_000_000, output: 15_000_000_000, cache_read: 300_000_000, cache_write: null };
const model = {
  pricing: {
    ...{ ...rates, ...usd, cache_write_1h: null, unit: 'nanousd_per_million_tokens' as const },
    tiers: [{ ...rates, ...usd, cache_write_1h: null, above_input_tokens: 200_000, input: 6_000_000_000 }],
  },
};

test('multiplies tokens with prices, line by line', () => {
  const lines = costLines(model, { fresh: 1_903, cached: 10_401, output: 611 });
  expect(lines.map(({ amount }) => amount)).toEqual([5_709_000n, 3_120_300n, 9_165_000n]);
});

test('rounds each line up to a whole nanodollar', () => {
  const cheap = { pricing: { ...model.pricing, tiers: [], input: 1, output: 1 } };
  expect(costLines(cheap, { fresh: 1, cached: 0, output: 1 }).map(({ amount }) => amount)).toEqual([1n, 1n]);
});

test('prices the whole request by the tier that its input exceeds', () => {
  expect(ratesFor(model, 200_000).input).toBe(3_000_000_000);
  expect(ratesFor(model, 200_001).input).toBe(6_000_000_000);
  expect(costLines(model, { fresh: 200_000, cached: 1, output: 0 })[0]?.pricePerMillion).toBe(6_000_000_000n);
});

test('reads token counts with separators, and nothing else', () => {
  expect([parseTokens('1,000'), parseTokens(''), parseTokens('1e3'), parseTokens('-1')]).toEqual([
    1_000,
    0,
    null,
    null,
  ]);
});
