import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { countTokens, splitTokens, takeTokens } from './tokens.ts';

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(' ', 'a', 'é', '😀', '.', '\n', '"', '7', '\ud83d', '\ude00'), maxLength: 60 }),
);

describe('the tokenizer', () => {
  test.each([
    ['', 0],
    ['hello', 1],
    ['hello there', 2],
    ['hello, there!', 4],
    ['two  spaces', 3],
    ['simulated', 2],
    ['   ', 3],
    ['über', 1],
    ['{"a":1}', 7],
  ])('counts %j as %i', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });

  test('never finds more tokens than UTF-8 bytes', () => {
    fc.assert(fc.property(anyText, (text) => countTokens(text) <= Buffer.byteLength(text)));
  });

  test('gives the first n tokens as a text of n tokens', () => {
    fc.assert(
      fc.property(anyText, fc.nat(80), (text, max) => {
        const taken = takeTokens(text, max);
        expect(text.startsWith(taken.text)).toBe(true);
        expect(taken.tokens).toBe(Math.min(max, countTokens(text)));
        expect(countTokens(taken.text)).toBe(taken.tokens);
      }),
    );
  });

  test('splits into pieces that join to the text, each of the size asked for but the last', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 9 }), (text, perPiece) => {
        const pieces = splitTokens(text, perPiece);
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBe(countTokens(text));
        expect(pieces.slice(0, -1).every((piece) => piece.tokens === perPiece)).toBe(true);
      }),
    );
  });

  test('never cuts a character in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) =>
        splitTokens(text, 1).every((piece) => piece.text.isWellFormed()),
      ),
    );
    expect(splitTokens('1234567😀8', 1).map((piece) => piece.text)).toEqual(['1234567😀', '8']);
  });
});
