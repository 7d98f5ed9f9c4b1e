import { expect, test } from 'vitest';
import { nearestName } from './nearest.ts';

const NAMES = ['listen', 'data', 'hosts', 'models', 'log_level'];

test.each([
  ['listne', 'listen'],
  ['Hosts', 'hosts'],
  ['host', 'hosts'],
  ['loglevel', 'log_level'],
  ['model', 'models'],
])('%s probably meant %s', (word, meant) => {
  expect(nearestName(word, NAMES)).toBe(meant);
});

test('a word that resembles nothing gets no suggestion', () => {
  expect(nearestName('retention', NAMES)).toBeNull();
  expect(nearestName('x', NAMES)).toBeNull();
  expect(nearestName('', NAMES)).toBeNull();
});
