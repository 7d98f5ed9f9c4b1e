import fc from 'fast-check';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k, decode } from 'gpt-tokenizer/encoding/o200k_base';
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { expect, test } from 'vitest';
import { randomCases } from '../../test/random-cases.ts';
import { LIMITS } from '../limits.ts';
import { countSurplus, leastTokens, pieceTokensMax, prefixOf } from './least-tokens.ts';
import { measureExactly } from './measure-text.ts';

const PLAIN = { disallowedSpecial: new Set<string>() };
const COUNTERS = [countO200k, countCl100k].map((count) => (text: string) => count(text, PLAIN));
const ALL = Number.POSITIVE_INFINITY;

/** The tokens with the most characters, which come closest to the bound. */
const LONGEST_FIRST = Array.from({ length: 199_000 }, (_, token) => decode([token])).sort(
  (left, right) => right.length - left.length,
);
const LONGEST = LONGEST_FIRST.slice(0, 3000);

const piece = fc.oneof(
  fc.constantFrom(...LONGEST),
  fc.constantFrom(' ', '\n', '\t\t', '    ', '\u3000', '====', '----------', 'a', '.', '://', '\ud83d\ude80'),
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

test('no known tokenizer makes fewer tokens than the bound', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      for (const count of COUNTERS) expect(leastTokens([text], ALL)).toBeLessThanOrEqual(count(text));
    }),
    { numRuns: randomCases(500) },
  );
});

test.each(['long', 'longest'])('nor for the %s tokens alone, one after another', (which) => {
  for (const token of LONGEST.slice(0, which === 'long' ? randomCases(LONGEST.length) : 100)) {
    for (const text of [token.repeat(8), `${token} `.repeat(8)]) {
      for (const count of COUNTERS) expect(leastTokens([text], ALL), token).toBeLessThanOrEqual(count(text));
    }
  }
});

test('prose is bounded from below by three quarters of its words, over all texts', () => {
  expect(leastTokens(['The ferry leaves ', 'at seven, from the old quay.'], ALL)).toBe(6);
  expect(leastTokens([' \n\t ', '='.repeat(5000), ''], ALL)).toBe(0);
});

test('reading stops when there is enough', () => {
  const texts = ['toll gate '.repeat(1000), 'more '.repeat(1000)];
  const bound = leastTokens(texts, 50);
  expect(bound).toBeGreaterThan(50);
  expect(bound).toBeLessThan(60);
});

test('what cuts may add to a count is known from the long runs', () => {
  expect(countSurplus(['short words only '.repeat(100)], LIMITS.tokenCountPieceCharsMax)).toBe(0);
  expect(countSurplus(['x'.repeat(1000)], LIMITS.tokenCountPieceCharsMax)).toBe(5 * 16);
  const both = `a ${'x'.repeat(128)} b${' '.repeat(128)}c ${'y'.repeat(127)}`;
  expect(countSurplus([both], LIMITS.tokenCountPieceCharsMax)).toBe(4 * 16);
});

/** Letters or signs without a space, so that they are one piece, which is too long to be counted whole. */
const PIECES = [/^\p{L}{2,}$/u, /^[^\s\p{L}\p{N}]{2,}$/u].map((kind) =>
  LONGEST_FIRST.filter((token) => kind.test(token)),
);
const longPiece = fc
  .tuple(
    fc.constantFrom(...PIECES),
    fc.array(fc.nat(), { minLength: 4, maxLength: 200 }),
    fc.integer({ min: 1, max: 40 }),
  )
  .map(([tokens, picks, times]) =>
    picks
      .map((pick) => tokens[pick % tokens.length])
      .join('')
      .repeat(times)
      .slice(0, 1200),
  );

const TOKENIZERS = [O200K_TOKEN_SPLIT_REGEX, CL100K_TOKEN_SPLIT_REGEX].map((pieces, at) => {
  const countTokens = COUNTERS[at]!;
  const counted = (text: string): number => {
    const steps = measureExactly(text, { pieces, countTokens });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value.tokens;
    }
  };
  return { whole: countTokens, counted };
});

test('a count in parts without what cuts may add is never above the count of the whole, nor that of a prefix', () => {
  const max = LIMITS.tokenCountPieceCharsMax;
  fc.assert(
    fc.property(longPiece, fc.nat(1200), (piece, chars) => {
      for (const { whole, counted } of TOKENIZERS) {
        const tokens = whole(piece);
        expect(counted(piece) - countSurplus([piece], max)).toBeLessThanOrEqual(tokens);
        const prefix = [piece.slice(0, chars)];
        expect(counted(prefix[0]!) - countSurplus(prefix, max) - pieceTokensMax(max)).toBeLessThanOrEqual(tokens);
      }
    }),
    { numRuns: randomCases(150) },
  );
});

test('a prefix ends after this many characters, and a text that is not longer has no prefix', () => {
  expect(prefixOf(['abc', 'def'], 4)).toEqual(['abc', 'd']);
  expect(prefixOf(['abc', 'def'], 6)).toBeNull();
});
