import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectSame } from '../../test/expect-same.ts';
import { LocalNumbers, type NumbersById, NumberTable } from './numbers-by-id.ts';
import { startThread } from './start-thread.ts';

function shared(ids: number, forgets = true): NumberTable {
  return new NumberTable({ memory: NumberTable.sharedMemory(ids), forgets });
}

describe.each<[string, () => NumbersById]>([
  ['of one thread', () => new LocalNumbers()],
  ['in a table of one thread', () => NumberTable.ofThread(1024, false)],
  ['in a table that threads share', () => shared(1024, false)],
])('numbers %s', (_name, open) => {
  test('are what was last set, until they are deleted', () => {
    const id = fc.bigInt({ min: -3n, max: 12n }).filter((chosen) => chosen !== 0n);
    const step = fc.record({ id, value: fc.option(fc.double({ noNaN: true })) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [numbers, expected] = [open(), new Map<bigint, number>()];
        for (const { id, value } of steps) {
          if (value === null) {
            numbers.delete(id);
            expected.delete(id);
          } else {
            expect(numbers.set(id, value)).toBe(true);
            expected.set(id, value);
          }
          expect(numbers.get(id)).toBe(expected.get(id));
        }
        expect(numbers.size).toBe(expected.size);
        expect(numbers.takeAll()).toEqual(expected);
        expect(numbers.size).toBe(0);
      }),
    );
  });

  test('belong to ids of 64 bits, even if these differ in one half only', () => {
    const numbers = open();
    const ids = [1n, 1n << 32n, (1n << 62n) + 1n, (1n << 62n) + 2n, -1n];
    for (const [index, id] of ids.entries()) numbers.set(id, index);
    expect(ids.map((id) => numbers.get(id))).toEqual([0, 1, 2, 3, 4]);
  });
});

test('numbers of one thread keep every id while they grow, and take no more than they may', () => {
  const numbers = new LocalNumbers(1024, false);
  const ids = Array.from({ length: 2_000 }, (_, index) => BigInt(index + 1) ** 5n);
  const kept = ids.filter((id, index) => numbers.set(id, index));
  expect(kept.length).toBeGreaterThan(800);
  expect(numbers.size).toBe(kept.length);
  for (const id of kept) expect(numbers.get(id)).toBe(ids.indexOf(id));
});

test('numbers in a table forget the smallest number near an id if there is no room, or refuse the id', () => {
  const [forgetful, faithful] = [shared(32), shared(32, false)];
  for (let id = 1n; id <= 32n; id++) for (const numbers of [forgetful, faithful]) numbers.set(id, Number(id));
  expect([forgetful.set(99n, 7), faithful.set(99n, 7)]).toEqual([true, false]);
  expect([forgetful.get(1n), forgetful.get(2n), forgetful.get(99n)]).toEqual([undefined, 2, 7]);
  expect([faithful.get(1n), faithful.get(99n), faithful.set(5n, 6)]).toEqual([1, undefined, true]);
  expect([forgetful.size, faithful.size]).toEqual([32, 32]);
});

test('a table that is nearly full keeps every number that was not deleted', () => {
  const id = fc.bigInt({ min: 1n, max: 60n }).map((chosen) => chosen ** 9n);
  const step = fc.record({ id, value: fc.option(fc.nat(), { freq: 2 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 300 }), (steps) => {
      const [table, expected] = [NumberTable.ofThread(64, false), new Map<bigint, number>()];
      for (const { id, value } of steps) {
        if (value === null) expected.delete(id);
        else if (table.set(id, value)) expected.set(id, value);
        if (value === null) table.delete(id);
        expectSame(
          [...expected.keys()].map((kept) => table.get(kept)),
          [...expected.values()],
        );
      }
      expect(table.size).toBe(expected.size);
    }),
  );
});

test('there is no number for the id 0, which marks a free place', () => {
  const numbers = new LocalNumbers();
  expect([numbers.set(0n, 1), numbers.get(0n)]).toEqual([false, undefined]);
  numbers.delete(0n);
  expect(numbers.size).toBe(0);
});

test('two threads that add to the same number under the lock lose nothing', async () => {
  const memory = NumberTable.sharedMemory(64);
  const threads = [1, 2].map(() =>
    startThread(import.meta.url, '../../test/adding-thread', { workerData: { memory, times: 20_000 } }),
  );
  await Promise.all(threads.map((thread) => once(thread, 'exit')));
  expect(new NumberTable({ memory, forgets: false }).get(1n)).toBe(40_000);
});

test('numbers of one thread that must not be forgotten take no further id when they are full', () => {
  const numbers = new LocalNumbers(2, false);
  expect([numbers.set(1n, 1), numbers.set(2n, 2), numbers.set(3n, 3), numbers.set(1n, 4)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect([numbers.size, numbers.get(1n), numbers.get(3n)]).toEqual([2, 4, undefined]);
});
