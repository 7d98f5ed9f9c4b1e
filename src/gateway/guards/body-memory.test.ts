import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { BodyMemory } from './body-memory.ts';

const { bodiesBytesMax: ALL, bodiesBytesPerKeyMax: ONE, bodiesSmallBytes: SMALL } = LIMITS;
/** What accounts with many bytes may use. */
const FOR_ALL = ALL - LIMITS.bodiesReserveBytes;

/** Bodies of this many accounts, each with as many as fit. */
function filled(accounts: bigint): BodyMemory {
  const memory = new BodyMemory();
  for (let account = 1n; account <= accounts; account++) {
    for (let bytes = ONE; bytes >= 1; bytes /= 2) {
      for (let key = 0n; key < 4n; key++) memory.take(1_000n * account + key, bytes, account);
    }
  }
  return memory;
}

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
  for (let key = 1n; key <= BigInt(ALL / ONE); key++) expect(memory.take(key, ONE)).toBe(true);
  expect([memory.take(99n, 1), memory.take(null, 1)]).toEqual([false, false]);
  memory.free(1n, ONE);
  expect(memory.take(null, ONE)).toBe(true);
  expect(memory.take(99n, 1)).toBe(false);
  expect(memory.bytes).toBe(ALL);
});

test('limits one account, however many keys it has, to its share of what others leave', () => {
  const memory = new BodyMemory();
  const share = LIMITS.bodiesAccountPercent / 100;
  const most = FOR_ALL * share;
  const body = most / 4;
  for (let key = 1n; key <= 4n; key++) expect(memory.take(key, body, 7n)).toBe(true);
  expect([memory.fits(99n, 1, 7n), memory.take(99n, 1, 7n)]).toEqual([false, false]);
  expect(memory.take(99n, (FOR_ALL - most) * share, 8n)).toBe(true);
  memory.free(1n, body, 7n);
  expect([memory.take(100n, body, 7n), memory.take(100n, body / 4, 7n)]).toEqual([false, true]);
  memory.free(99n, (FOR_ALL - most) * share, 8n);
  expect(memory.take(101n, (body * 3) / 4, 7n)).toBe(true);
  expect(memory.bytes).toBe(most);
});

test('leaves memory for another account, however much two have taken with all their keys', () => {
  const memory = new BodyMemory();
  for (const account of [7n, 8n]) {
    for (let body = 0n; body < 1_000n; body++) memory.take(1_000n * account + body, 1024 * 1024, account);
  }
  expect(memory.take(9n, 8 * 1024 * 1024, 9n)).toBe(true);
});

test('leaves memory for small bodies of another account, however much a dozen have taken', () => {
  const memory = filled(12n);
  expect(FOR_ALL - memory.bytes).toBeLessThan(SMALL);
  expect([memory.fits(99n, SMALL, 99n), memory.take(99n, SMALL, 99n)]).toEqual([true, true]);
  expect([memory.fits(99n, 1, 99n), memory.take(98n, SMALL + 1, 98n)]).toEqual([false, false]);
});

test('small bodies of many accounts stay within the memory there is', () => {
  const memory = filled(12n);
  let account = 100n;
  while (memory.take(account, SMALL, account)) account++;
  expect(account - 100n).toBeGreaterThanOrEqual(BigInt(LIMITS.bodiesReserveBytes / SMALL) - 12n);
  expect(memory.bytes).toBeLessThanOrEqual(ALL);
});
