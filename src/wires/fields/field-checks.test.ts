import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { aNumber, checkField } from './field-checks.ts';

test.each([0, -0, 1.5, 1e300])('%d is a number', (value) => {
  expect(() => checkField('temperature', value, aNumber)).not.toThrow();
});

test('a number too large to be held is refused, because it would be written as null', () => {
  expect(() => checkField('temperature', JSON.parse('1e400'), aNumber)).toThrow(GatewayError);
  expect(() => checkField('temperature', '1', aNumber)).toThrow(GatewayError);
});
