import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { price, usageOf } from '../../test/money-arbitraries.ts';
import { costOf } from '../money/cost.ts';
import { findLoss } from './loss.ts';
import { readPrice } from './rows.ts';
import type { PriceRow } from './schema.ts';

const loss = (host: PriceRow, caller: PriceRow) => findLoss(readPrice(host), readPrice(caller));

describe('a host that costs more than callers pay', () => {
  const CALLER: PriceRow = { input: 10, output: 20, cache_read: 1 };
  test.each<[string, PriceRow, PriceRow, object | null]>([
    ['not the same price', CALLER, CALLER, null],
    ['not a cheaper one', { input: 9, output: 20, cache_read: 0 }, CALLER, null],
    ['one higher rate', { ...CALLER, output: 21 }, CALLER, { rate: 'output', hostRate: 21n, callerRate: 20n }],
    ['a cache that costs as much as reading afresh', { input: 10, output: 20 }, CALLER, { rate: 'cache_read' }],
    [
      'a tier that callers do not have',
      { ...CALLER, tiers: [{ above_input_tokens: 100, ...CALLER, input: 11 }] },
      CALLER,
      { rate: 'input', aboveInputTokens: 100 },
    ],
    [
      'a tier that is cheaper for callers',
      CALLER,
      { ...CALLER, tiers: [{ above_input_tokens: 100, ...CALLER, output: 19 }] },
      { rate: 'output', aboveInputTokens: 100 },
    ],
    [
      'not a tier that begins later than that of callers',
      { ...CALLER, tiers: [{ above_input_tokens: 101, ...CALLER, output: 30 }] },
      { ...CALLER, tiers: [{ above_input_tokens: 100, ...CALLER, output: 30 }] },
      null,
    ],
  ])('%s', (_name, host, caller, expected) => {
    const found = loss(host, caller);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  });

  test('is found whenever any call could lose money', () => {
    fc.assert(
      fc.property(price, price, usageOf(fc.nat({ max: 400_000 })), (host, caller, usage) => {
        if (findLoss(host, caller) !== null) return;
        expect(costOf(host, usage).costNanousd <= costOf(caller, usage).costNanousd).toBe(true);
      }),
    );
    // Two prices drawn independently are seldom comparable; a cheaper copy of a price always is.
    fc.assert(
      fc.property(price, fc.bigInt({ min: 0n, max: 5n }), usageOf(fc.nat({ max: 400_000 })), (caller, less, usage) => {
        const host = { ...caller, outputNanousdPerMillion: caller.outputNanousdPerMillion / (less + 1n), tiers: [] };
        if (caller.tiers.length > 0) return;
        expect(findLoss(host, caller)).toBeNull();
        expect(costOf(host, usage).costNanousd <= costOf(caller, usage).costNanousd).toBe(true);
      }),
    );
  });
});
