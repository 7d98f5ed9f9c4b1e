import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeVector, encodeVector, readVector, reduceVector } from './vectors.ts';

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const vector = fc.array(float, { minLength: 1, maxLength: 40 });

const normOf = (values: ArrayLike<number>): number => Math.hypot(...Array.from(values));

describe('the short form', () => {
  test('is little-endian, four bytes a number', () => {
    expect(encodeVector([1, -2])).toBe(Buffer.from([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]).toString('base64'));
    expect(decodeVector('AACAPwAAAMA=')).toEqual(Float32Array.of(1, -2));
  });

  test('comes back as the same numbers', () => {
    fc.assert(
      fc.property(vector, (values) => {
        const decoded = decodeVector(encodeVector(values))!;
        expect(Array.from(decoded)).toEqual(values.map((value) => Math.fround(value)));
        expect(encodeVector(decoded)).toBe(encodeVector(values));
      }),
    );
  });

  test.each(['', 'AAAA', 'AACA', 'AACAPwA=', 'AAC*APwAAAMA=', 'AACAPwAAAMA=\n', 'not base64 at all!'])(
    '%j is none',
    (text) => {
      expect(decodeVector(text)).toBeNull();
    },
  );

  test('no other text is taken for one', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const decoded = decodeVector(text);
        if (decoded !== null) expect(decoded.length * 4).toBe(Buffer.from(text, 'base64').length);
      }),
    );
  });
});

describe('a reduced vector', () => {
  test('is its own beginning at unit length', () => {
    expect(reduceVector([3, 4, 12], 2)).toEqual([0.6, 0.8]);
    expect(reduceVector(Float32Array.of(0, 5, 1), 2)).toEqual([0, 1]);
    expect(reduceVector([0, 0, 1], 2)).toEqual([0, 0]);
  });

  test('has norm one, the length asked for and the direction of its beginning', () => {
    const nonzero = fc.array(
      fc.double({ min: -1, max: 1, noNaN: true }).filter((value) => Math.abs(value) > 1e-3),
      { minLength: 2, maxLength: 64 },
    );
    fc.assert(
      fc.property(nonzero, fc.nat(), (values, at) => {
        const dimensions = 1 + (at % values.length);
        const reduced = reduceVector(values, dimensions);
        expect(reduced).toHaveLength(dimensions);
        expect(normOf(reduced)).toBeCloseTo(1, 10);
        expect(normOf(decodeVector(encodeVector(reduced))!)).toBeCloseTo(1, 5);
        const scale = values[0]! / reduced[0]!;
        for (const [index, value] of reduced.entries()) expect(value * scale).toBeCloseTo(values[index]!, 8);
      }),
    );
  });
});

describe('what is no vector', () => {
  test.each([null, undefined, 7, {}, [], ['1'], [null], [[1, 2]], [1, Number.NaN], 'AADAfw==', 'AACAfw=='])(
    '%j',
    (embedding) => {
      expect(readVector(embedding)).toBeNull();
    },
  );
});
