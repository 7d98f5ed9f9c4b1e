import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { LargeBodies } from './large-bodies.ts';

const { largeBodiesBytesMax: ALL, largeBodiesBytesPerKeyMax: ONE } = LIMITS;

test('limits one key to its share of the room', () => {
  const bodies = new LargeBodies();
  const free = bodies.take(1n, ONE);
  expect(free).not.toBeNull();
  expect(bodies.take(1n, 1)).toBeNull();
  expect(bodies.take(2n, ONE)).not.toBeNull();
  free!();
  expect(bodies.take(1n, ONE)).not.toBeNull();
});

test('limits all keys together to the room there is, and reuses room that was released', () => {
  const bodies = new LargeBodies();
  const keys = Array.from({ length: ALL / ONE }, (_, at) => bodies.take(BigInt(at), ONE));
  expect(keys).not.toContain(null);
  expect([bodies.take(99n, 1), bodies.take(null, 1)]).toEqual([null, null]);
  keys[0]!();
  expect(bodies.take(null, ONE)).not.toBeNull();
  expect(bodies.take(99n, 1)).toBeNull();
});
