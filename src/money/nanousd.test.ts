import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeAmount, formatDollars, formatUsd, INT64_MAX, parseNanousd, parseUsd, usdNumber } from './nanousd.ts';

describe('an amount in a header', () => {
  it('is decimal digits within int64', () => {
    expect(parseNanousd('0')).toBe(0n);
    expect(parseNanousd('5000')).toBe(5_000n);
    expect(parseNanousd('9223372036854775807')).toBe(INT64_MAX);
  });

  it.each(['', ' 5', '5 ', '+5', '-5', '1e9', '5.0', '0x10', '1_000', '٥', '9223372036854775808', '1'.repeat(400)])(
    'is not %j',
    (text) => {
      expect(parseNanousd(text)).toBeNull();
    },
  );
});

describe('dollars as text', () => {
  it.each([
    ['5', 5_000_000_000n],
    ['5.25', 5_250_000_000n],
    ['$5', 5_000_000_000n],
    ['$0.000000001', 1n],
    ['-5.25', -5_250_000_000n],
    ['-$1', -1_000_000_000n],
    ['0', 0n],
    ['9223372036.854775807', INT64_MAX],
  ])('%s is exact', (text, nanousd) => {
    expect(parseUsd(text)).toBe(nanousd);
  });

  it.each([
    '',
    '$',
    '5.',
    '.5',
    '5,25',
    '1,000',
    '5.0000000001',
    '1e3',
    '--5',
    '$-5',
    '5 USD',
    'NaN',
    '9223372036.854775808',
  ])('%j is refused', (text) => {
    expect(parseUsd(text)).toBeNull();
  });

  it.each([
    [0n, '$0.00'],
    [999_990_000_000n, '$999.99'],
    [4_200_000_000_000_000n, '$4,200,000.00'],
    [-1_234_500_000_000n, '-$1,234.50'],
    [1_234_000_000_001n, '$1,234.000000001'],
  ])('%s nanodollars are written %s for people', (nanousd, text) => {
    expect(formatDollars(nanousd)).toBe(text);
  });

  it.each([
    [0n, '0.00'],
    [5_000_000_000n, '5.00'],
    [5_250_000_000n, '5.25'],
    [1n, '0.000000001'],
    [-1_500_000n, '-0.0015'],
    [INT64_MAX, '9223372036.854775807'],
  ])('%s nanodollars are written %s', (nanousd, text) => {
    expect(formatUsd(nanousd)).toBe(text);
  });

  it('reads back what it wrote, for every amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -INT64_MAX, max: INT64_MAX }), (nanousd) => {
        expect(parseUsd(formatUsd(nanousd))).toBe(nanousd);
      }),
    );
  });
});

it('a number of dollars is the nearest to the exact amount, zero included', () => {
  expect(usdNumber(0n)).toBe(0);
  expect(usdNumber(1n)).toBe(1e-9);
  expect(usdNumber(123_456_789n)).toBe(0.123456789);
  fc.assert(
    fc.property(fc.maxSafeNat(), (nanousd) => {
      expect(usdNumber(BigInt(nanousd))).toBe(nanousd / 1e9);
    }),
  );
});

it.each([
  [524_560_003n, '$0.52456 (524560003 nanodollars)'],
  [22_350n, '$0.00002235 (22350 nanodollars)'],
  [999_999_999n, '$1.00 (999999999 nanodollars)'],
  [12_345_678_900_000n, '$12345.68 (12345678900000 nanodollars)'],
  [5_250_000_000n, '$5.25 (5250000000 nanodollars)'],
  [0n, '$0.00 (0 nanodollars)'],
  [1n, '$0.000000001 (1 nanodollar)'],
  [-1_500_000_000n, '-$1.50 (-1500000000 nanodollars)'],
])('describes %d nanodollars for people, dollars first', (nanousd, text) => {
  expect(describeAmount(nanousd)).toBe(text);
});
