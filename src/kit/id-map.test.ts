import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectSame } from '../../test/expect-same.ts';
import { ManualClock } from './clock.ts';
import { hashOf, IdMap } from './id-map.ts';
import { IdSource } from './ids.ts';

test('holds what was last set for an id, until it is deleted, at any size', () => {
  const id = fc.bigInt({ min: 1n, max: 90n }).map((chosen) => chosen ** 9n);
  const step = fc.record({ id, value: fc.option(fc.nat(), { freq: 2 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 300 }), (steps) => {
      const [map, expected] = [new IdMap<number>(), new Map<bigint, number>()];
      for (const { id, value } of steps) {
        if (value !== null) {
          map.set(id, value);
          expected.set(id, value);
        } else expect(map.delete(id)).toBe(expected.delete(id));
        expectSame(map.size, expected.size);
        expectSame(
          [...expected.keys()].map((kept) => map.get(kept)),
          [...expected.values()],
        );
      }
      expect(map.values().sort()).toEqual([...expected.values()].sort());
      map.clear();
      expect([map.size, map.values(), map.get(steps[0]!.id)]).toEqual([0, [], undefined]);
    }),
  );
});

test('tells ids of 64 bits apart, even if they differ in one half only', () => {
  const ids = [1n, 1n << 32n, (1n << 62n) + 1n, (1n << 62n) + 2n, -1n, -(1n << 63n)];
  const map = new IdMap<number>();
  for (const [index, id] of ids.entries()) map.set(id, index);
  expect(ids.map((id) => map.get(id))).toEqual([0, 1, 2, 3, 4, 5]);
});

test('refuses the id 0, which marks a free place', () => {
  const map = new IdMap<number>();
  expect(() => map.set(0n, 1)).toThrow('No id is 0.');
  expect([map.get(0n), map.delete(0n), map.size]).toEqual([undefined, false, 0]);
});

test('has different places for ids that are made one after the other', () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 15));
  const source = new IdSource(clock, 7);
  const places = new Set<number>();
  for (let made = 0; made < 64; made++) {
    const id = source.next();
    places.add(hashOf(Number(BigInt.asIntN(32, id)), Number(BigInt.asIntN(32, id >> 32n))) & 127);
    clock.advance(1);
  }
  expect(places.size).toBeGreaterThan(32);
});
