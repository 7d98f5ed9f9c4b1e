import { expect, test } from 'vitest';
import { invoiceLines } from './invoice-lines.ts';

const usage = {
  fresh_tokens: 1_903,
  cache_read_tokens: 10_401,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 611,
  reasoning_tokens: 0,
};

test('finds the price per million tokens that gives each amount', () => {
  const components = { fresh: 5_709_000, cache_write: 0, cache_read: 3_120_300, output: 9_165_000 };
  expect(invoiceLines({ usage, components }).map(({ name, pricePerMillion }) => [name, pricePerMillion])).toEqual([
    ['Fresh input', 3_000_000_000n],
    ['Cache read', 300_000_000n],
    ['Output', 15_000_000_000n],
  ]);
});

test('finds it even where the amount was rounded up to a whole nanodollar', () => {
  const few = { ...usage, fresh_tokens: 7, cache_read_tokens: 0, output_tokens: 3 };
  const components = { fresh: 2, cache_write: 0, cache_read: 0, output: 1 };
  const [fresh] = invoiceLines({ usage: few, components });
  expect(fresh?.amount).toBe(2n);
  expect((7n * fresh!.pricePerMillion! + 999_999n) / 1_000_000n).toBe(2n);
});

test('names no single price where two kinds of cache writes share a line', () => {
  const mixed = { ...usage, cache_write_tokens: 10, cache_write_1h_tokens: 20 };
  const components = { fresh: 5_709_000, cache_write: 500, cache_read: 3_120_300, output: 9_165_000 };
  expect(
    invoiceLines({ usage: mixed, components }).find(({ name }) => name === 'Cache write')?.pricePerMillion,
  ).toBeNull();
});
