import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { BodyMemory } from './body-memory.ts';

const { bodiesBytesMax: ALL, bodiesBytesPerKeyMax: ONE } = LIMITS;

test('limits one key to its share of the memory', () => {
  const memory = new BodyMemory();
  expect(memory.take(1n, ONE - 1)).toBe(true);
  expect([memory.fits(1n, 1), memory.fits(1n, 2), memory.take(1n, 2)]).toEqual([true, false, false]);
  expect(memory.take(2n, ONE)).toBe(true);
  memory.free(1n, ONE - 1);
  expect(memory.take(1n, ONE)).toBe(true);
  expect(memory.bytes).toBe(2 * ONE);
});

test('limits all keys together to the memory there is, and reuses memory that was released', () => {
  const memory = new BodyMemory();
  for (let key = 0n; key < BigInt(ALL / ONE); key++) expect(memory.take(key, ONE)).toBe(true);
  expect([memory.take(99n, 1), memory.take(null, 1)]).toEqual([false, false]);
  memory.free(0n, ONE);
  expect(memory.take(null, ONE)).toBe(true);
  expect(memory.take(99n, 1)).toBe(false);
  expect(memory.bytes).toBe(ALL);
});

test('limits one account, however many keys it has, and leaves memory for others', () => {
  const memory = new BodyMemory();
  const { bodiesBytesPerAccountMax: OF_ACCOUNT } = LIMITS;
  for (let key = 0n; key < BigInt(OF_ACCOUNT / ONE); key++) expect(memory.take(key, ONE, 7n)).toBe(true);
  expect([memory.fits(99n, 1, 7n), memory.take(99n, 1, 7n)]).toEqual([false, false]);
  expect(memory.take(99n, ALL - OF_ACCOUNT, 8n)).toBe(true);
  memory.free(0n, ONE, 7n);
  expect(memory.take(100n, ONE, 7n)).toBe(true);
  expect(memory.bytes).toBe(ALL);
});
