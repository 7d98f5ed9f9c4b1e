import { expect, test } from 'vitest';
import { Places } from './places.ts';

const full = () => new Error('full');

test('an id has as many places as the limit says, and others are not affected', async () => {
  const places = new Places(2);
  const { promise: released, resolve: release } = Promise.withResolvers<string>();
  const running = [places.during(1n, () => released, full), places.during(1n, () => released, full)];
  await expect(places.during(1n, async () => 'third', full)).rejects.toThrow('full');
  expect(await places.during(2n, async () => 'other', full)).toBe('other');
  release('done');
  expect(await Promise.all(running)).toEqual(['done', 'done']);
  expect(await places.during(1n, async () => 'third', full)).toBe('third');
});

test('work that fails frees its place', async () => {
  const places = new Places(1);
  for (let failed = 0; failed < 3; failed++)
    await expect(places.during(1n, () => Promise.reject(new Error('away')), full)).rejects.toThrow('away');
});
