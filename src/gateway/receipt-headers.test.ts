import { expect, it } from 'vitest';
import { receiptHeaders } from './receipt-headers.ts';

const COMPONENTS = { freshNanousd: 1n, cacheWriteNanousd: 0n, cacheReadNanousd: 2n, outputNanousd: 2n ** 60n };

it('writes the cost and four integers that sum to it', () => {
  expect(receiptHeaders({ costNanousd: 3n + 2n ** 60n, components: COMPONENTS })).toEqual({
    'x-gateway-cost-nanousd': '1152921504606846979',
    'x-gateway-cost-components-nanousd': 'fresh=1,cache_write=0,cache_read=2,output=1152921504606846976',
  });
});

it('leaves the components out where they are unknown', () => {
  expect(receiptHeaders({ costNanousd: 7n, components: null })).toEqual({ 'x-gateway-cost-nanousd': '7' });
});
