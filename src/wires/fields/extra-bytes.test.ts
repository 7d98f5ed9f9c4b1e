import { expect, test } from 'vitest';
import { beyondMetadata, contentBytes, extraBytes } from './extra-bytes.ts';

test.each([
  ['a string', 'Brücke', 7],
  ['numbers, flags and nulls', { a: 1, b: true, c: null, d: [2, 3] }, 0],
  ['empty values', { a: '', b: [], c: {} }, 0],
  ['strings at any depth', { a: ['x', { b: 'yz' }], c: 'é' }, 5],
])('counts the text of %s', (_what, value, bytes) => {
  expect(contentBytes(value)).toBe(bytes);
});

test('counts text that is nested more deeply than a function may call itself', () => {
  const depth = 50_000;
  expect(contentBytes(JSON.parse(`${'['.repeat(depth)}"x"${']'.repeat(depth)}`))).toBe(1);
});

test('leaves known members out', () => {
  expect(extraBytes({ content: 'known', images: [{ url: 'abc' }] }, new Set(['content']))).toBe(3);
});

test('counts a large image for a part of its bytes', () => {
  expect(contentBytes({ url: 'x'.repeat(1_000_000) })).toBe(64 * 1024);
});

test('lets a host describe itself in every frame', () => {
  expect([beyondMetadata(256), beyondMetadata(257)]).toEqual([0, 1]);
});
