import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checksumFits, describeKey, hashSecret, hasKeyShape, mintSecret } from './keys.ts';

test('a minted key has the documented form, and its stored parts match it without containing the secret', () => {
  const minted = mintSecret();
  const text = minted.secret.reveal();
  expect(text).toMatch(/^tg_live_[0-9A-Za-z]{38}$/);
  expect(hasKeyShape(text)).toBe(true);
  expect(checksumFits(text)).toBe(true);
  expect(minted.sha256Hex).toBe(createHash('sha256').update(text).digest('hex'));
  expect(text.startsWith(minted.prefix) && text.endsWith(minted.lastFour)).toBe(true);
  expect(minted.prefix.length + minted.lastFour.length).toBeLessThanOrEqual('tg_live_'.length + 8);
  expect(JSON.stringify(minted)).not.toContain(text.slice(12, -4));
  expect(describeKey(minted)).toBe(`${text.slice(0, 12)}…${text.slice(-4)}`);
});

test('no two keys are the same', () => {
  const keys = Array.from({ length: 1000 }, () => mintSecret().secret.reveal());
  expect(new Set(keys).size).toBe(1000);
});

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('a key with one wrong character is refused without a lookup', () => {
  const text = mintSecret().secret.reveal();
  const edit = fc.tuple(fc.integer({ min: 8, max: text.length - 1 }), fc.constantFrom(...BASE62));
  fc.assert(
    fc.property(edit, ([at, character]) => {
      fc.pre(text[at] !== character);
      const typo = text.slice(0, at) + character + text.slice(at + 1);
      expect(hasKeyShape(typo)).toBe(true);
      expect(checksumFits(typo)).toBe(false);
    }),
  );
});

test('a key with two swapped characters is refused', () => {
  const text = mintSecret().secret.reveal();
  for (let at = 8; at + 1 < text.length; at++) {
    const swapped = text.slice(0, at) + text[at + 1]! + text[at]! + text.slice(at + 2);
    if (swapped !== text) expect(checksumFits(swapped)).toBe(false);
  }
});

test.each(['', 'tg_live_', 'sk-abc', ` ${mintSecret().secret.reveal()}`, `${mintSecret().secret.reveal()}a`])(
  'what is not of the form is no key: %j',
  (text) => expect(hasKeyShape(text)).toBe(false),
);

test('any text hashes as SHA-256 of its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(hashSecret(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
    }),
  );
});
