import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Price, Rates } from '../money/price.ts';
import { hashPrices, writePriceList } from './price-version.ts';

const rate = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
const rates: fc.Arbitrary<Rates> = fc.record({
  inputNanousdPerMillion: rate,
  outputNanousdPerMillion: rate,
  cacheReadNanousdPerMillion: fc.option(rate),
  cacheWriteNanousdPerMillion: fc.option(rate),
  cacheWrite1hNanousdPerMillion: fc.option(rate),
});
const tier = fc.record({ above: fc.nat(), rates }).map(({ above, rates }) => ({ aboveInputTokens: above, ...rates }));
const price: fc.Arbitrary<Price> = fc
  .record({ rates, tiers: fc.array(tier, { maxLength: 3 }) })
  .map(({ rates, tiers }) => ({ ...rates, tiers }));
const list = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), price), { selector: ([id]) => id, minLength: 1 });

test('the hash of a price list does not depend on its order', () => {
  fc.assert(
    fc.property(list, (prices) => {
      expect(hashPrices(prices.toReversed())).toBe(hashPrices(prices));
    }),
  );
});

test('one nanodollar more on any rate gives another hash', () => {
  const field = fc.constantFrom('inputNanousdPerMillion', 'outputNanousdPerMillion', 'cacheReadNanousdPerMillion');
  fc.assert(
    fc.property(list, field, ([first, ...others], name) => {
      if (first === undefined) return;
      const [id, price] = first;
      const higher = { ...price, [name]: (price[name] ?? price.inputNanousdPerMillion) + 1n };
      expect(hashPrices([[id, higher], ...others])).not.toBe(hashPrices([first, ...others]));
    }),
  );
});

test('a null cache rate and the input rate it means are the same price', () => {
  const plain: Price = {
    inputNanousdPerMillion: 7n,
    outputNanousdPerMillion: 9n,
    cacheReadNanousdPerMillion: null,
    cacheWriteNanousdPerMillion: null,
    cacheWrite1hNanousdPerMillion: null,
    tiers: [],
  };
  expect(hashPrices([['x', { ...plain, cacheReadNanousdPerMillion: 7n }]])).toBe(hashPrices([['x', plain]]));
});

test('a tier that begins elsewhere or costs something else gives another hash', () => {
  fc.assert(
    fc.property(price, tier, (base, one) => {
      const hashWith = (changed: typeof one) => hashPrices([['x', { ...base, tiers: [changed] }]]);
      expect(hashWith({ ...one, aboveInputTokens: one.aboveInputTokens + 1 })).not.toBe(hashWith(one));
      expect(hashWith({ ...one, outputNanousdPerMillion: one.outputNanousdPerMillion + 1n })).not.toBe(hashWith(one));
      expect(hashPrices([['x', { ...base, tiers: [] }]])).not.toBe(hashWith(one));
    }),
  );
});

test('a price list has one text: another order or spelling gives the same, another price another version', () => {
  fc.assert(
    fc.property(list, ([first, ...others]) => {
      if (first === undefined) return;
      const [id, one] = first;
      const kept = writePriceList('2026-11-15', [first, ...others]);
      expect(writePriceList('2026-11-15', [...others, first])).toEqual(kept);
      const explicit = {
        ...one,
        cacheReadNanousdPerMillion: one.cacheReadNanousdPerMillion ?? one.inputNanousdPerMillion,
      };
      expect(writePriceList('2026-11-15', [[id, explicit], ...others])).toEqual(kept);
      const higher = { ...one, outputNanousdPerMillion: one.outputNanousdPerMillion + 1n };
      expect(writePriceList('2026-11-15', [[id, higher], ...others]).version).not.toBe(kept.version);
      expect(JSON.parse(kept.json)[id].output).toBe(Number(one.outputNanousdPerMillion));
    }),
  );
});
