import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { CliFailure } from './failure.ts';
import { readCount, readList, readMoment, readNanousd, readUsd, time, usd } from './text-values.ts';

describe('amounts', () => {
  test('what is shown in dollars reads back as the same nanodollars', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanousd) => {
        const shown = usd(nanousd);
        expect(shown).toMatch(/^-?\$\d+\.\d{2,9}$/);
        expect(readUsd(shown, 'it')).toBe(String(nanousd));
      }),
    );
  });

  test.each(['', 'five', '5.', '.5', '5,25', '1e3', '5.0000000001', '5 5', '0x5'])('%j is not an amount', (text) => {
    expect(() => readUsd(text, 'The amount')).toThrow(CliFailure);
    expect(() => readUsd(text, 'The amount')).toThrow('The amount must be');
  });

  test.each(['99999999999', '9223372036.854775808'])('%s is too much', (text) => {
    expect(() => readUsd(text, 'The amount')).toThrow(
      `The amount must be at most $9223372036.854775807, not "${text}".`,
    );
  });

  test.each(['-99999999999', '-$9223372036.854775808'])('%s is too little', (text) => {
    expect(() => readUsd(text, 'The amount')).toThrow(
      `The amount must be between -$9223372036.854775807 and $9223372036.854775807, not "${text}".`,
    );
  });

  test('nanodollars are whole', () => {
    expect(readNanousd('-12', 'it')).toBe('-12');
    expect([readNanousd('007', 'it'), readNanousd('-0012', 'it'), readNanousd('000', 'it')]).toEqual(['7', '-12', '0']);
    for (const text of ['1.5', '', '1e3', '12345678901234567890', '-0', '-000', '+1', '0x10', ' 5', '5 ', '١'])
      expect(() => readNanousd(text, 'it')).toThrow(CliFailure);
  });
});

test('a time that is later than any calendar shows is not a bug', () => {
  expect(time(Number.MAX_SAFE_INTEGER)).toContain('+275760');
});

test.each(['1969-12-31', '0001-01-01', '999999w'])('a time before 1970 is refused in words: %s', (text) => {
  const clock = new ManualClock(Date.UTC(2026, 10, 15, 12));
  expect(() => readMoment(text, '--since', clock, 'ago')).toThrow(`--since must not be before 1970, as "${text}" is.`);
});

describe('moments', () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 15, 12));
  const at = (text: string, direction: 'ago' | 'ahead' = 'ahead') => time(readMoment(text, 'it', clock, direction));

  test.each([
    ['2027-01-31', '2027-01-31 00:00:00'],
    ['2027-01-31T12:30', '2027-01-31 12:30:00'],
    ['2027-01-31 12:30:15', '2027-01-31 12:30:15'],
    ['2027-01-31T12:30Z', '2027-01-31 12:30:00'],
    ['2027-01-31t12:30:15.250z', '2027-01-31 12:30:15'],
    ['2027-01-31T12:30+02:00', '2027-01-31 10:30:00'],
    ['30d', '2026-12-15 12:00:00'],
    ['12h', '2026-11-16 00:00:00'],
    ['90s', '2026-11-15 12:01:30'],
  ])('%s is %s UTC', (text, expected) => expect(at(text)).toBe(expected));

  test('a duration may also lie in the past', () => expect(at('1w', 'ago')).toBe('2026-11-08 12:00:00'));

  test.each(['', 'tomorrow', '2027-02-31', '2027-13-01', '2027-1-1', '2027-01-01T25:00', '30', '-1d', '1y'])(
    '%j is no moment',
    (text) => expect(() => at(text)).toThrow('a date like 2027-01-31'),
  );
});

test('counts have a range, lists lose empty parts', () => {
  expect(readCount('7', '--limit', 10)).toBe(7);
  for (const text of ['0', '11', '-1', '1.5', 'x'])
    expect(() => readCount(text, '--limit', 10)).toThrow('from 1 to 10');
  expect(readList(' a, b ,,c')).toEqual(['a', 'b', 'c']);
});
