import { expect, test } from 'vitest';
import { hideSecret } from './hide-secret.ts';

const SECRET = 'gsk/1234"5678';

test.each([
  ['is hidden wherever it is', `a ${SECRET}, and ${SECRET}!`, 'a [key], and [key]!'],
  ['is hidden in a URL', `?key=${encodeURIComponent(SECRET)}&b`, '?key=[key]&b'],
  ['is hidden in JSON', JSON.stringify({ a: SECRET }), '{"a":"[key]"}'],
  ['is hidden if the text was cut within it', `a ${SECRET.slice(0, -1)}`, 'a [key]'],
  ['is hidden if the text was cut early within it', `a ${SECRET.slice(0, 8)}`, 'a [key]'],
  ['is hidden if a URL was cut within it', `?key=${encodeURIComponent(SECRET).slice(0, -2)}`, '?key=[key]'],
  ['is hidden if JSON was cut within it', JSON.stringify({ a: SECRET }).slice(0, -3), '{"a":"[key]'],
  ['leaves a word at the end that begins like it', 'a gsk', 'a gsk'],
  ['leaves its beginning elsewhere, which nothing has cut', 'a gsk/1234" b', 'a gsk/1234" b'],
])('a secret %s', (_, text, hidden) => {
  expect(hideSecret(text, SECRET)).toBe(hidden);
});
