import { expect, test } from 'vitest';
import type { CanonicalEvent } from './events.ts';
import { wholeCharacters } from './whole-characters.ts';

/** The texts that leave the filter when these arrive in one block. */
function passed(...texts: string[]): string[] {
  const left: string[] = [];
  const sink = wholeCharacters((event: CanonicalEvent) => {
    if (event.kind === 'block-delta') left.push(event.text);
  });
  sink({ kind: 'block-start', block: { kind: 'text' } });
  for (const text of texts) sink({ kind: 'block-delta', text });
  sink({ kind: 'block-end', opaque: null });
  return left;
}

test.each<[string, string[], string[]]>([
  ['a text without halves', ['a😀b', 'c'], ['a😀b', 'c']],
  ['a character that is cut in two', ['a\ud83d', '\ude00b'], ['a', '😀b']],
  ['a character of which each delta has one half', ['\ud83d', '\ude00'], ['😀']],
  ['a first half at the end', ['a\ud83d'], ['a', '\ufffd']],
  ['a first half before another text', ['\ud83d', 'b'], ['\ufffdb']],
  ['a first half within a delta', ['a\ud83db'], ['a\ufffdb']],
  ['a second half at the start', ['\ude00b'], ['\ufffdb']],
  ['a second half alone', ['a', '\ude00'], ['a', '\ufffd']],
  ['a second half too many', ['\ud83d', '\ude00\ude00'], ['😀\ufffd']],
])('passes on only whole characters: %s', (_, arrived, left) => {
  expect(passed(...arrived)).toEqual(left);
});
