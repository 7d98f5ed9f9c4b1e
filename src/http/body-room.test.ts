import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { BodyRoom } from './body-room.ts';

const { bodiesBytesMax: ALL, bodiesBytesPerKeyMax: ONE } = LIMITS;

test('limits one key to its share of the room', () => {
  const room = new BodyRoom();
  expect(room.take(1n, ONE - 1)).toBe(true);
  expect([room.fits(1n, 1), room.fits(1n, 2), room.take(1n, 2)]).toEqual([true, false, false]);
  expect(room.take(2n, ONE)).toBe(true);
  room.free(1n, ONE - 1);
  expect(room.take(1n, ONE)).toBe(true);
  expect(room.bytes).toBe(2 * ONE);
});

test('limits all keys together to the room there is, and reuses room that was released', () => {
  const room = new BodyRoom();
  for (let key = 0n; key < BigInt(ALL / ONE); key++) expect(room.take(key, ONE)).toBe(true);
  expect([room.take(99n, 1), room.take(null, 1)]).toEqual([false, false]);
  room.free(0n, ONE);
  expect(room.take(null, ONE)).toBe(true);
  expect(room.take(99n, 1)).toBe(false);
  expect(room.bytes).toBe(ALL);
});
