import { expect, test } from 'vitest';
import { chainPlaceOf, inOrderOfChain, sumOfChain } from './chain.ts';

test('reads the id of a chain and the place in it', () => {
  expect(chainPlaceOf({ chain: 'plan_7-b;12' })).toEqual({ id: 'plan_7-b', place: 12 });
  expect(chainPlaceOf({ chain: null })).toBeNull();
});

test('sums what calls cost, counts running ones, and keeps refunds apart', () => {
  const receipts = [
    { cost_nanousd: 22_350n, refunded_nanousd: 0n, status: 'settled' },
    { cost_nanousd: 9_007_199_254_740_993n, refunded_nanousd: 350n, status: 'settled' },
    { cost_nanousd: null, refunded_nanousd: 0n, status: 'open' },
  ] as const;
  expect(sumOfChain(receipts)).toEqual({
    costNanousd: 9_007_199_254_763_343n,
    refundedNanousd: 350n,
    running: 1,
  });
});

test('orders calls by their place as a number, then by time', () => {
  const receipts = ['a;10', 'a;9', 'a;9', 'a;1'].map((chain, at) => ({ id: `req_${9 - at}`, chain }));
  expect(inOrderOfChain(receipts).map(({ id }) => id)).toEqual(['req_6', 'req_7', 'req_8', 'req_9']);
});
