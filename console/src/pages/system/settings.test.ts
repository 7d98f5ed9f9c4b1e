import { expect, test } from 'vitest';
import { flattenSettings } from './settings.ts';

test('lists nested settings by their path, in words, with where they come from', () => {
  const settings = { hosted: false, limits: { body_bytes: 5 }, origins: [], listen: null };
  expect(flattenSettings(settings, { 'limits.body_bytes': 'config file', hosted: '--hosted' })).toEqual([
    { name: 'hosted', value: 'off', source: '--hosted' },
    { name: 'limits.body_bytes', value: '5', source: 'config file' },
    { name: 'origins', value: 'none', source: null },
    { name: 'listen', value: 'not set', source: null },
  ]);
});
