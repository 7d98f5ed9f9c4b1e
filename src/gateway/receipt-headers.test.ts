import { expect, it } from 'vitest';
import { receiptLines } from './receipt-headers.ts';

const COMPONENTS = { freshNanousd: 1n, cacheWriteNanousd: 0n, cacheReadNanousd: 2n, outputNanousd: 2n ** 60n };

it('writes the cost and four integers that add up to it', () => {
  expect(receiptLines({ costNanousd: 3n + 2n ** 60n, components: COMPONENTS })).toBe(
    'x-gateway-cost-nanousd: 1152921504606846979\r\n' +
      'x-gateway-cost-components-nanousd: fresh=1,cache_write=0,cache_read=2,output=1152921504606846976\r\n',
  );
});

it('leaves unknown components out', () => {
  expect(receiptLines({ costNanousd: 7n, components: null })).toBe('x-gateway-cost-nanousd: 7\r\n');
});
