import { expect, test } from 'vitest';
import { heapBytesOfJson, weighJson } from './weight.ts';

const weigh = (text: string): number => weighJson(Buffer.from(text), Number.POSITIVE_INFINITY);

test('text weighs half of what other bytes do, whatever is in it', () => {
  const letters = weigh(`"${'a'.repeat(8_000)}"`);
  expect(letters).toBeCloseTo(1_000, -2);
  expect(weigh(`"${'['.repeat(8_000)}"`)).toBe(letters);
  expect(weigh(`"${'\\"'.repeat(4_000)}"`)).toBe(letters);
  expect(weigh('1'.repeat(8_000))).toBeCloseTo(2 * letters, -2);
});

test('lists, objects and strings weigh far more than their bytes', () => {
  for (const part of ['[],', '{},', '"",']) expect(weigh(part.repeat(1_000))).toBeGreaterThan(8_000);
});

test.each(['\n', '\r'])('a quote in one line of a frame hides nothing in the next one (%j)', (end) => {
  const lists = '[],'.repeat(1_000);
  expect(weigh(`: "${end}data: ${lists}`)).toBeGreaterThan(weigh(lists));
  expect(weigh(`: "\\${end}data: ${lists}`)).toBeGreaterThan(weigh(lists));
});

test('stops above the maximum', () => {
  expect(weighJson(Buffer.from('[],'.repeat(1_000)), 50)).toBeLessThan(100);
});

test('a list of empty lists takes much more memory than its text, and a long text does not', () => {
  expect(heapBytesOfJson(Buffer.from('[],'.repeat(100)))).toBeGreaterThan(6_000);
  expect(heapBytesOfJson(Buffer.from(`"${'a'.repeat(1_000)}"`))).toBeLessThan(1_100);
});
