import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatCost,
  formatCounted,
  formatExact,
  formatMoney,
  formatPrice,
  isCapText,
  parseDollars,
  writeDollars,
} from './money-format.ts';

describe('money for reading', () => {
  test('shows cents and groups thousands', () => {
    expect(formatMoney(1_234_567_890_000_000n)).toBe('$1,234,567.89');
    expect(formatMoney(-3_480_000_000n)).toBe('−$3.48');
    expect(formatMoney(0n)).toBe('$0.00');
  });

  test('never rounds an amount above zero to nothing', () => {
    expect(formatMoney(1n)).toBe('< $0.01');
    expect(formatMoney(9_999_999n)).toBe('< $0.01');
    expect(formatMoney(10_000_000n)).toBe('$0.01');
    expect(formatCost(22n)).toBe('$0.000000022');
  });

  test('shows what is unknown as a dash, not as zero', () => {
    expect(formatMoney(null)).toBe('–');
    expect(formatCost(undefined)).toBe('–');
  });

  test('keeps every digit of amounts beyond what a number holds', () => {
    expect(formatExact(9_007_199_254_740_993n)).toBe('$9,007,199.254740993');
  });

  test('rounds the cost of a call to six decimals', () => {
    expect(formatCost(17_994_300n)).toBe('$0.017994');
    expect(formatCost(1_999_999_999n)).toBe('$2.000000');
  });

  test('shows a price without needless zeros', () => {
    expect(formatPrice(3_000_000_000n)).toBe('$3.00');
    expect(formatPrice(75_000_000n)).toBe('$0.075');
  });
});

describe('dollars as somebody types them', () => {
  test('reads what it wrote', () => {
    for (const amount of [0n, 1n, 250_000_000n, 5_000_000_000n, 120_000_000_000n, 1_234_567_891_011n])
      expect(parseDollars(writeDollars(amount))).toBe(amount);
  });

  test('refuses what is no amount', () => {
    for (const text of ['', 'five', '-1', '1.0000000001', '1e3']) expect(parseDollars(text)).toBeNull();
  });

  test('reads commas between thousands only: in many countries a comma begins the cents', () => {
    expect(parseDollars('$1,000')).toBe(1_000_000_000_000n);
    expect(parseDollars('1,234,567.50')).toBe(1_234_567_500_000_000n);
    for (const text of ['0,25', '0,250', '1,5', '12,50', '1,0000', '1.000,00', ',5', '1,,000', '1000,000'])
      expect(parseDollars(text), text).toBeNull();
  });
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [999_940, '999.9 kB'],
  [999_960, '1.0 MB'],
  [48_318_382_080, '48.3 GB'],
  [5_000_000_000_000_000, '5000.0 TB'],
])('writes %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0, '0 requests'],
  [1, '1 request'],
  [1_204, '1,204 requests'],
  [null, '– requests'],
])('counts %s as %s', (count, text) => {
  expect(formatCounted(count, 'request')).toBe(text);
});

test('a cap is an amount above 0 that the ledger can hold, and may be left out', () => {
  expect(['', ' ', '5', ' $0.50 ', '0.000000001', '9223372036.854775807'].filter((text) => !isCapText(text))).toEqual(
    [],
  );
  const wrong = ['0', '0.00', '-1', '1,5', '1e3', '0.0000000001', '9223372036.854775808', '9999999999', 'five'];
  expect(wrong.filter(isCapText)).toEqual([]);
});
