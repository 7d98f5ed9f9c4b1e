import { expect, test } from 'vitest';
import { refusalBy } from '../../../test/chat-wire.ts';
import { LIMITS } from '../../limits.ts';
import { readModel } from './read-model.ts';

test('a model is named by a string', () => {
  expect(readModel({ model: 'vendor/ferry' })).toBe('vendor/ferry');
  expect(readModel({ model: 'x'.repeat(LIMITS.modelIdCharsMax) })).toHaveLength(LIMITS.modelIdCharsMax);
});

test.each([
  [undefined, 'missing_required_parameter'],
  [null, 'missing_required_parameter'],
  ['', 'invalid_value'],
  [7, 'invalid_value'],
  [['a'], 'invalid_value'],
  ['x'.repeat(LIMITS.modelIdCharsMax + 1), 'invalid_value'],
])('%j names none', (model, code) => {
  expect(refusalBy(() => readModel({ model }))).toMatchObject({ code, param: 'model' });
});
