import { expect, test } from 'vitest';
import { flattenSettings } from './settings.ts';

test('lists nested settings by their path, in words', () => {
  expect(flattenSettings({ hosted: false, limits: { body_bytes: 5 }, origins: [], listen: null })).toEqual([
    { name: 'hosted', value: 'off' },
    { name: 'limits.body_bytes', value: '5' },
    { name: 'origins', value: 'none' },
    { name: 'listen', value: 'not set' },
  ]);
});
