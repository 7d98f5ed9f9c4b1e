import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { workersFor, workersSchema, workersTextSchema } from './workers.ts';

const can = () => Promise.resolve(true);
const cannot = () => Promise.resolve(false);

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [9, 8],
  [64, LIMITS.workersMax],
])('on %i cores, auto is %i', async (cores, workers) => {
  expect(await workersFor('auto', can, cores)).toBe(workers);
});

test('where a port cannot be shared, auto is one, and more are refused with the reason', async () => {
  expect([await workersFor('auto', cannot, 8), await workersFor(1, cannot, 8), await workersFor(2, can, 1)]).toEqual([
    1, 1, 2,
  ]);
  await expect(workersFor(2, cannot, 8)).rejects.toThrow(
    /Cannot use 2 workers: .* only one thread can listen on a port/,
  );
});

test('a setting is "auto" or a number of workers', () => {
  expect([workersSchema.parse('auto'), workersSchema.parse(4), workersTextSchema.parse('auto')]).toEqual([
    'auto',
    4,
    'auto',
  ]);
  expect(workersTextSchema.parse('3')).toBe(3);
  for (const wrong of [0, 9, 1.5, 'two', null]) expect(workersSchema.safeParse(wrong).success).toBe(false);
  for (const wrong of ['0', '9', '-1', 'two', '']) expect(workersTextSchema.safeParse(wrong).success).toBe(false);
  expect(workersTextSchema.safeParse('99').error?.issues[0]?.message).toBe(
    'must be "auto" or a whole number from 1 to 8',
  );
});
