import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CountTerms, countPrompt } from './counted-bound.ts';
import type { TextMeasure } from './measure-text.ts';

const UNKNOWN: CountTerms = { exact: false, factor: 1.5 };
const EXACT: CountTerms = { exact: true, factor: 1 };

function boundOf(measure: TextMeasure, terms: CountTerms): number {
  const { fixedTokens, scaledTokens } = countPrompt([measure], [], terms);
  return fixedTokens + scaledTokens;
}

describe('the bound of a text', () => {
  it.each<[string, TextMeasure, CountTerms, number]>([
    ['the count of a known tokenizer', { tokens: 90, asciiBytes: 0, otherBytes: 400 }, EXACT, 90],
    ['the count times the factor', { tokens: 100, asciiBytes: 300, otherBytes: 0 }, UNKNOWN, 150],
    ['a third of the bytes, if the count is lower', { tokens: 10, asciiBytes: 301, otherBytes: 0 }, UNKNOWN, 101],
    ['every byte of other characters', { tokens: 100, asciiBytes: 300, otherBytes: 70 }, UNKNOWN, 220],
    ['no more than the bytes', { tokens: 100, asciiBytes: 120, otherBytes: 7 }, UNKNOWN, 127],
    ['a fraction rounded up', { tokens: 1, asciiBytes: 5, otherBytes: 0 }, UNKNOWN, 2],
    ['nothing for nothing', { tokens: 0, asciiBytes: 0, otherBytes: 0 }, UNKNOWN, 0],
  ])('is %s', (_, measure, terms, expected) => {
    expect(boundOf(measure, terms)).toBe(expected);
  });

  it('of a tool is that of its rendering with the most tokens; what is likely is what was sent', () => {
    const sent = { tokens: 10, asciiBytes: 30, otherBytes: 3 };
    const escaped = { tokens: 40, asciiBytes: 100, otherBytes: 0 };
    expect(countPrompt([], [[sent, escaped]], UNKNOWN)).toEqual({
      fixedTokens: 0,
      scaledTokens: 60,
      likelyTokens: 11,
      textTokens: 0,
    });
  });

  it('is never above the bytes, never below a third of the ASCII bytes, and grows with the factor', () => {
    const measure = fc
      .record({
        asciiBytes: fc.nat(1_000),
        otherBytes: fc.nat(1_000),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      })
      .map(({ asciiBytes, otherBytes, share }) => ({ tokens: Math.ceil(asciiBytes * share), asciiBytes, otherBytes }));
    const factor = fc.double({ min: 1, max: 8, noNaN: true });
    fc.assert(
      fc.property(measure, factor, factor, (one, first, second) => {
        const bound = boundOf(one, { exact: false, factor: Math.min(first, second) });
        expect(bound).toBeLessThanOrEqual(one.asciiBytes + one.otherBytes);
        expect(bound).toBeGreaterThanOrEqual(Math.ceil(one.asciiBytes / 3) + one.otherBytes);
        expect(boundOf(one, { exact: false, factor: Math.max(first, second) })).toBeGreaterThanOrEqual(bound);
      }),
    );
  });
});
