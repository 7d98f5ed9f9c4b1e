import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { normalizedBytes } from './normalized-bytes.ts';

const MARKS = ['\u0301', '\u0323', '\uFF9E', '\u{1D165}', '\u0344'];

test('text that does not grow counts as its UTF-8', () => {
  for (const text of ['', 'plain', 'Grüße, 안녕하세요, 你好'])
    expect(normalizedBytes(text)).toBe(Buffer.byteLength(text));
});

test('a ligature counts as what it stands for', () => {
  expect(normalizedBytes('\uFDFA')).toBe(33);
});

test('no text has more bytes in NFKC or UTF-8 than are counted', () => {
  const mark = fc.constantFrom(...MARKS);
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.array(fc.oneof({ weight: 9, arbitrary: mark }, { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) }), {
      maxLength: 400,
    }),
  );
  fc.assert(
    fc.property(text, (given) => {
      const whole = typeof given === 'string' ? given : given.join('');
      const counted = normalizedBytes(whole);
      expect(counted).toBeGreaterThanOrEqual(Buffer.byteLength(whole));
      expect(counted).toBeGreaterThanOrEqual(Buffer.byteLength(whole.normalize('NFKC')));
    }),
    { numRuns: 2_000 },
  );
});

test('a megabyte of unordered marks is counted: normalising it as a whole would take an hour', () => {
  for (const pair of ['\u0301\u0323', '\u0301\uFF9E', '\u{1D165}\u0301']) {
    const text = pair.repeat(500_000);
    expect(normalizedBytes(text)).toBeGreaterThanOrEqual(Buffer.byteLength(text));
  }
});
