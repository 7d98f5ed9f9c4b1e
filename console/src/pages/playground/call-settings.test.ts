import { expect, test } from 'vitest';
import { EMPTY_SETTINGS, settingsFaults } from './call-settings.tsx';

test.each(['', ' ', '1', ' 9999999 '])('takes "%s" as an output limit', (maxTokens) => {
  expect(settingsFaults({ ...EMPTY_SETTINGS, maxTokens })).toEqual({});
});

test.each(['0', '00', '10000000', '-1', '1.5', '1e3', 'ten'])(
  'refuses "%s" as an output limit, and says the range',
  (maxTokens) => {
    expect(settingsFaults({ ...EMPTY_SETTINGS, maxTokens })).toEqual({
      maxTokens: 'A whole number from 1 to 9,999,999.',
    });
  },
);

test.each([
  ['', true],
  ['0', true],
  ['2', true],
  ['2.1', false],
  ['-0.1', false],
  ['hot', false],
])('a temperature of "%s" is valid: %s', (temperature, isValid) => {
  expect(settingsFaults({ ...EMPTY_SETTINGS, temperature })).toEqual(
    isValid ? {} : { temperature: 'A number from 0 to 2.' },
  );
});
