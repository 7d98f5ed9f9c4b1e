import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Facts } from '../scripts/catalog/facts-source.ts';
import {
  differences,
  higherPrice,
  highestOfHosts,
  nanousd,
  type PriceFigures,
  type RateFigures,
  ratesAbove,
} from '../scripts/catalog/figures.ts';
import { makeRow, type Sources } from '../scripts/catalog/make-row.ts';
import type { OfferedModel } from '../scripts/catalog/offered-models.ts';
import { type PricePackage, readPriceOf } from '../scripts/catalog/price-source.ts';
import { alignTiers } from '../scripts/catalog/tier-boundaries.ts';

const TODAY = '2026-11-15';

function rates(input: number, output: number, cacheRead: number | null = null): RateFigures {
  return { input, output, cache_read: cacheRead, cache_write: null, cache_write_1h: null };
}

function flat(input: number, output: number, cacheRead: number | null = null): PriceFigures {
  return { ...rates(input, output, cacheRead), tiers: [] };
}

function priceList(models: object[]): PricePackage {
  return { findProvider: () => ({ models }) } as PricePackage;
}

function priceOf(prices: object, name = 'm', match: object = { equals: 'm' }) {
  return readPriceOf(priceList([{ id: 'label', match, prices }]), 'openai', name, 'chat', TODAY);
}

describe('price tiers', () => {
  function aligned(above: number, vendor: string, contextWindow = 1_000_000) {
    const lines: string[] = [];
    const price = { ...flat(3, 10), tiers: [{ above_input_tokens: above, ...rates(6, 20) }] };
    const { tiers } = alignTiers(price, { model: 'm', vendor, contextWindow, report: (line) => lines.push(line) });
    return { above: tiers[0]?.above_input_tokens, lines };
  }

  test.each([
    [271_999, 'openai', 272_000],
    [272_000, 'openai', 272_000],
    [199_999, 'xai', 200_000],
    [200_000, 'google', 200_000],
  ])('a tier from or above %i of %s begins above %i, with the page to check it against', (found, vendor, above) => {
    expect(aligned(found, vendor)).toMatchObject({ above, lines: [expect.stringContaining('check it against')] });
  });

  test('a boundary that the vendor is not known for stays as it is, and is reported', () => {
    expect(aligned(150_000, 'openai')).toEqual({
      above: 150_000,
      lines: [expect.stringContaining('not a known boundary')],
    });
  });

  test("a tier above the model's own window is reported", () => {
    expect(aligned(200_000, 'anthropic', 200_000).lines).toContainEqual(expect.stringContaining('beyond its window'));
  });

  test('the committed catalog has no tier that is off by one', () => {
    const file = readFileSync(new URL('../data/catalog.json', import.meta.url), 'utf8');
    const { models } = JSON.parse(file) as { models: { price?: { tiers?: { above_input_tokens: number }[] } }[] };
    const boundaries = models.flatMap(({ price }) => price?.tiers?.map((tier) => tier.above_input_tokens) ?? []);
    expect(boundaries.length).toBeGreaterThan(10);
    expect(boundaries.filter((above) => above % 1000 !== 0)).toEqual([]);
  });
});

describe('where two sources differ', () => {
  test('the higher figure counts, rate by rate', () => {
    expect(higherPrice(flat(3, 10, 2), flat(2, 15, 1))).toEqual(flat(3, 15, 2));
  });

  test('a rate only one of them knows is taken from that one, and is no difference', () => {
    expect(higherPrice(flat(3, 10), flat(3, 10, 1))).toEqual(flat(3, 10, 1));
    expect(differences(flat(3, 10), flat(3, 10, 1))).toEqual([]);
  });

  test('every differing rate is reported', () => {
    expect(differences(flat(3, 10), flat(2, 15))).toEqual(['input: 3 against 2', 'output: 10 against 15']);
  });

  test('a tier only one of them has still counts', () => {
    const tiered = { ...flat(3, 10), tiers: [{ above_input_tokens: 200, ...rates(6, 20) }] };
    expect(higherPrice(tiered, flat(3, 10))).toEqual(tiered);
    expect(differences(tiered, flat(3, 10))).toHaveLength(2);
  });

  test('"from 200" and "above 200" are one tier, beginning at the lower', () => {
    const from = { ...flat(3, 10), tiers: [{ above_input_tokens: 199, ...rates(6, 20) }] };
    const above = { ...flat(3, 10), tiers: [{ above_input_tokens: 200, ...rates(6, 20) }] };
    expect(higherPrice(above, from)).toEqual(from);
    expect(differences(from, above)).toEqual([]);
  });

  test('no request costs less than either source says', () => {
    const rate = fc.nat({ max: 1_000 });
    const tier = fc.record({ above_input_tokens: fc.integer({ min: 1, max: 20 }), input: rate, output: rate });
    const price = fc
      .record({ input: rate, output: rate, tiers: fc.uniqueArray(tier, { selector: (t) => t.above_input_tokens }) })
      .map((p) => ({
        ...flat(p.input, p.output),
        tiers: p.tiers
          .toSorted((a, b) => a.above_input_tokens - b.above_input_tokens)
          // Thresholds of one source are far apart; close ones would be the same threshold reported twice.
          .map((t) => ({ above_input_tokens: t.above_input_tokens * 10, ...rates(t.input, t.output) })),
      }));
    fc.assert(
      fc.property(price, price, fc.nat({ max: 250 }), (a, b, tokens) => {
        const combined = ratesAbove(higherPrice(a, b), tokens);
        expect(combined.input).toBe(Math.max(ratesAbove(a, tokens).input, ratesAbove(b, tokens).input));
        expect(combined.output).toBe(Math.max(ratesAbove(a, tokens).output, ratesAbove(b, tokens).output));
      }),
    );
  });
});

test('of several hosts the one without a cache discount decides the cache rate', () => {
  expect(highestOfHosts([flat(3, 10, 1), flat(3, 10)])).toEqual(flat(3, 10));
  expect(highestOfHosts([flat(3, 10, 1), flat(2, 10, 2)])).toEqual(flat(3, 10, 2));
});

test('dollars become whole nanodollars without the noise of floats', () => {
  expect(nanousd(0.1 + 0.2)).toBe(300_000_000);
  expect(nanousd(0.003625)).toBe(3_625_000);
  expect(() => nanousd(0.000_000_000_5)).toThrow(/no whole number/);
});

describe('reading a price', () => {
  const price = { input_mtok: 1, output_mtok: 2 };

  test('goes by the exact name', () => {
    expect(priceOf(price)).toMatchObject({ price: flat(1e9, 2e9) });
    expect(priceOf(price, 'm', { or: [{ equals: 'other' }, { equals: 'm' }] })).toHaveProperty('price');
    expect(priceOf(price, 'label')).toHaveProperty('price');
  });

  test('never by prefix, part or pattern', () => {
    for (const match of [{ starts_with: 'm' }, { contains: 'm' }, { regex: 'm' }, { and: [{ equals: 'm' }] }]) {
      expect(priceOf(price, 'm', match)).toEqual({ unpriced: 'not listed' });
    }
  });

  test('takes the price that has begun, and announces the next', () => {
    const on = (start_date: string, input_mtok: number) => ({
      constraint: { type: 'start_date', start_date },
      prices: { input_mtok, output_mtok: 2 },
    });
    expect(priceOf([{ prices: price }, on('2026-08-01', 5), on('2027-01-01', 9)])).toMatchObject({
      price: flat(5e9, 2e9),
      notes: ['another price begins on 2027-01-01'],
    });
  });

  test('takes the highest hour', () => {
    const hour = { constraint: { type: 'time_of_date' }, prices: { input_mtok: 4, output_mtok: 2 } };
    expect(priceOf([{ prices: price }, hour])).toMatchObject({ price: flat(4e9, 2e9) });
  });

  test('leaves out what rates per token cannot express, and what has no price', () => {
    expect(priceOf({ ...price, requests_kcount: 5 })).toEqual({
      unpriced: 'a charge that rates per token cannot express: requests_kcount',
    });
    expect(priceOf({})).toEqual({ unpriced: 'listed without a price' });
    expect(priceOf({ ...price, web_searches_kcount: 10 })).toHaveProperty('price');
  });

  test('reads tiers of single rates as rows of all rates', () => {
    const tiered = { input_mtok: { base: 1, tiers: [{ start: 200, price: 3 }] }, output_mtok: 2 };
    expect(priceOf(tiered)).toMatchObject({
      price: { ...flat(1e9, 2e9), tiers: [{ above_input_tokens: 200, ...rates(3e9, 2e9) }] },
    });
  });
});

describe('a row', () => {
  const facts: Facts = {
    name: 'Model',
    contextWindow: 100,
    maxOutputTokens: 50,
    tools: true,
    images: true,
    reasoning: true,
    efforts: ['low', 'high'],
    temperature: true,
    price: flat(1e9, 2e9, 5e8),
  };
  const offered: OfferedModel = { id: 'm', vendor: 'v', kind: 'chat', hosts: { one: 'm' }, imageTokensMax: 10 };

  function make(offered: OfferedModel, prices: object[], hostFacts: Record<string, Facts>) {
    const lines: string[] = [];
    const sources: Sources = {
      prices: priceList(prices),
      pricesName: { package: 'prices', version: '1' },
      facts: new Map(Object.entries(hostFacts).map(([host, known]) => [host, new Map([['m', known]])])),
      factsName: { package: 'facts', version: '2' },
      today: TODAY,
      firstListed: new Map([['m', 86_400]]),
      report: (line) => lines.push(line),
    };
    return { row: makeRow(offered, sources), lines };
  }

  const listed = { id: 'm', match: {}, context_window: 200, prices: { input_mtok: 1, output_mtok: 3 } };

  test('is left out, aloud, when nobody names a price', () => {
    const { row, lines } = make(offered, [], { one: { ...facts, price: null } });
    expect(row).toBeUndefined();
    expect(lines).toEqual(['m at one: left out, unpriced (not listed).']);
  });

  test('is left out when one source says that the price cannot be expressed, whatever the other says', () => {
    const { row } = make(offered, [{ ...listed, prices: { ...listed.prices, requests_kcount: 1 } }], { one: facts });
    expect(row).toBeUndefined();
  });

  test('names its sources, and reports what they disagree about', () => {
    const { row, lines } = make(offered, [listed], { one: facts });
    expect(row?.price).toEqual(rates(1e9, 3e9, 5e8));
    expect(row?.price_source).toEqual({ package: 'prices', version: '1', checked: TODAY, also: 'facts@2' });
    expect(lines).toEqual([
      'm at one: window 200 against 100, the larger counts.',
      'm at one: output: 3000000000 against 2000000000, the higher one counts.',
    ]);
    expect(row?.context_window).toBe(200);
  });

  test('can do what all its hosts can, and lists the cheapest first', () => {
    const blind = { ...facts, images: false, efforts: facts.efforts.slice(1), price: flat(2e8, 2e8) };
    const { row } = make({ ...offered, hosts: { one: 'm', two: 'm' } }, [], { one: facts, two: blind });
    expect(row?.caps).not.toContain('images');
    expect(row?.image_tokens_max).toBeNull();
    expect(row?.reasoning_efforts).toEqual(['high']);
    expect(row?.hosts.map(({ host }) => host)).toEqual(['two', 'one']);
    expect(row?.price).toMatchObject({ input: 1e9, output: 2e9 });
  });

  test('keeps the day it was first listed unless its release is known', () => {
    expect(make(offered, [], { one: facts }).row?.created).toBe(86_400);
    expect(make({ ...offered, released: '1970-01-03' }, [], { one: facts }).row?.created).toBe(172_800);
  });

  test('is also found by dotted, dashed and host spellings', () => {
    const named = { ...offered, id: 'claude-opus-4-5', hosts: { one: 'm' } };
    expect(make(named, [], { one: facts }).row?.aliases).toEqual(['claude-opus-4.5', 'm']);
    expect(make({ ...offered, id: 'm-4.1' }, [], { one: facts }).row?.aliases).toEqual(['m', 'm-4-1']);
  });

  describe('a host that may join', () => {
    const joining: OfferedModel = { ...offered, also: { two: { model: 'm', wire: 'messages' } } };
    const placesWith = (two: Partial<Facts>) => {
      const { row, lines } = make(joining, [], { one: facts, two: { ...facts, ...two } });
      return { hosts: row?.hosts, price: row?.price, lines: lines.filter((line) => line.includes('join')) };
    };

    test('does, on its own wire, if it costs no more and can do as much; the row stays as it was', () => {
      const { hosts, price } = placesWith({ price: flat(1e9, 1e9, 5e8), contextWindow: 200, efforts: [] });
      expect(hosts).toEqual([
        { host: 'one', model: 'm' },
        { host: 'two', model: 'm', wire: 'messages' },
      ]);
      expect(price).toEqual(rates(1e9, 2e9, 5e8));
    });

    test.each<[string, Partial<Facts>, string]>([
      ['costs more', { price: flat(1e9, 2e9, 6e8) }, 'it charges 600000000 for cache_read against 500000000'],
      ['does not discount what it has cached', { price: flat(1e9, 2e9) }, 'it charges 1000000000 for cache_read'],
      ['has a smaller window', { contextWindow: 99 }, 'its window is only 99'],
      ['writes less', { maxOutputTokens: 49 }, 'it writes only 49 tokens'],
      ['sees no images', { images: false }, 'it has no images'],
      ['does not reason', { reasoning: false }, 'it has no reasoning'],
    ])('does not if it %s, and that is reported', (_why, two, line) => {
      const { hosts, lines } = placesWith(two);
      expect(hosts).toEqual([{ host: 'one', model: 'm' }]);
      expect(lines).toEqual([expect.stringContaining(`m at two: does not join, ${line}`)]);
    });

    test('does not if it lists no model of exactly that name', () => {
      const { row, lines } = make(joining, [], { one: facts });
      expect(row?.hosts).toHaveLength(1);
      expect(lines).toContain('m at two: does not join, it lists no m.');
    });
  });

  test('says what each host charges where that is less than the price of all', () => {
    const cheap = { ...facts, price: flat(1e9, 1e9, 5e8) };
    const { row } = make({ ...offered, hosts: { one: 'm', two: 'm' } }, [], { one: facts, two: cheap });
    expect(row?.hosts).toEqual([
      { host: 'two', model: 'm', price: rates(1e9, 1e9, 5e8) },
      { host: 'one', model: 'm' },
    ]);
  });

  test('of a model that decides has free output', () => {
    const decider: OfferedModel = {
      ...offered,
      kind: 'decisions',
      facts: { name: 'D', contextWindow: 10, maxOutputTokens: 0, tools: false },
    };
    const { row } = make(decider, [{ id: 'm', match: {}, prices: { input_mtok: 0.042 } }], {});
    expect(row).toMatchObject({ caps: ['decisions'], max_output_tokens: 0, price: { input: 42_000_000, output: 0 } });
  });
});
