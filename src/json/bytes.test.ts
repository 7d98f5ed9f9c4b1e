import fc from 'fast-check';
import { expect, it } from 'vitest';
import { afterString, sourceOf } from './bytes.ts';

it('finds the end of a string wherever its quotes are, in ASCII and other text', () => {
  const pieces = fc.constantFrom('"', '\\', '\n', 'a', 'seven b', 'nine long', '0123456789abcdef', 'é');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const json = JSON.stringify(parts.join(''));
      const text = `{"a":${json},"b":"c"}`;
      const bytes = Buffer.from(text);
      const start = '{"a":'.length;
      const end = start + Buffer.byteLength(json);
      expect(afterString(sourceOf(bytes, text), start)).toBe(end);
      expect(afterString({ bytes, ascii: null }, start)).toBe(end);
    }),
    { numRuns: 3_000 },
  );
});

it('finds no end of a string without a closing quote', () => {
  for (const text of ['"', '"a', '"\\', '"\\"', `"${'a'.repeat(40)}\\"`, `"${'\\"'.repeat(40)}`]) {
    expect(afterString(sourceOf(Buffer.from(text), text), 0)).toBe(-1);
    expect(afterString({ bytes: Buffer.from(text), ascii: null }, 0)).toBe(-1);
  }
});

it('searches the string form only of ASCII text', () => {
  const ascii = '{"a":"b"}';
  expect(sourceOf(Buffer.from(ascii), ascii).ascii).toBe(ascii);
  for (const other of ['"é"', '"日"', '"😀"']) expect(sourceOf(Buffer.from(other), other).ascii).toBeNull();
});
