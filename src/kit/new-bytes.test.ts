import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newBytes } from './new-bytes.ts';

const LENGTHS = [0, 1, 2047, 2048, 5000, 16_384, 16_385, 100_000];

test('buffers have their length and no byte in common', () => {
  const lengths = fc.array(fc.oneof(fc.constantFrom(...LENGTHS), fc.nat(20_000)), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(lengths, (all) => {
      const buffers = all.map((length, at) => newBytes(length).fill(at + 1));
      expect(buffers.map((bytes, at) => bytes.equals(Buffer.alloc(all[at]!, at + 1)))).not.toContain(false);
    }),
  );
});

test.each(LENGTHS.filter((length) => length >= 2048))(
  'a buffer of %i bytes keeps at most sixteen times as many',
  (length) => {
    const kept = Array.from({ length: 20 }, () => newBytes(length).buffer.byteLength);
    expect(Math.max(...kept)).toBeLessThanOrEqual(16 * length);
  },
);

test('buffers of a few kilobytes share their memory', () => {
  const memories = new Set(Array.from({ length: 20 }, () => newBytes(6_000).buffer));
  expect(memories.size).toBeLessThanOrEqual(5);
});
