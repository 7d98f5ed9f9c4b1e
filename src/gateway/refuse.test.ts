import { expect, test } from 'vitest';
import { StoreUnavailable } from '../store/store.ts';
import { asGatewayError } from './refuse.ts';

test('an internal error says what was charged, if that is known', () => {
  const fault = new TypeError('x is not a function');
  expect(asGatewayError(fault)).toMatchObject({
    kind: 'internal_error',
    message: expect.stringContaining('nothing was charged'),
  });
  expect(asGatewayError(fault, true).message).not.toContain('nothing was charged');
  expect(asGatewayError(fault, true).message).toContain('receipt');
  expect(asGatewayError(fault).message).not.toContain('not a function');
  expect(asGatewayError(new StoreUnavailable('disk')).kind).toBe('store_unavailable');
});
