import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pieces } from './pieces.ts';

test('gives back the same bytes in the same order, whatever the sizes of the pieces', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(1_023, 1_024, 5_000)), {
    minLength: 50,
    maxLength: 400,
  });
  fc.assert(
    fc.property(sizes, fc.nat(400), (lengths, lookAt) => {
      const pieces = new Pieces();
      const sent = lengths.map((length, at) => Buffer.alloc(length, at % 251));
      for (const [at, piece] of sent.entries()) {
        pieces.add(piece);
        if (at === lookAt) pieces.all;
      }
      expect(Buffer.concat(pieces.all).equals(Buffer.concat(sent))).toBe(true);
    }),
  );
});

test('keeps few pieces of a body that arrives byte by byte', () => {
  const pieces = new Pieces();
  for (let byte = 0; byte < 100_000; byte++) pieces.add(Buffer.from([byte % 256]));
  expect(pieces.all.length).toBeLessThan(100);
  expect(Buffer.concat(pieces.all)).toHaveLength(100_000);
});

test('keeps a usual body without a copy', () => {
  const pieces = new Pieces();
  const first = Buffer.from('a');
  pieces.add(first);
  expect(pieces.all[0]).toBe(first);
  pieces.clear();
  expect(pieces.all).toEqual([]);
});
