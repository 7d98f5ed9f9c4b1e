import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { deltaShape } from './delta-shape.ts';

const SHAPE = deltaShape(2, 'text')!;

function frame(words: string, padding = ''): string {
  const data = `{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":${words}}${padding}}`;
  return `event: content_block_delta\ndata: ${data}\n\n`;
}

function matches(text: string): boolean {
  return SHAPE.matches(Buffer.from(text));
}

test('the text of a frame in the vendor’s spelling is found without parsing', () => {
  const words = fc.string({ unit: anyCharacter }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(words, fc.nat(20), (text, blanks) => {
      const raw = Buffer.from(frame(JSON.stringify(text), ' '.repeat(blanks)));
      // Control characters have long escapes, which are the parser's.
      const isPlain = !JSON.stringify(text).includes('\\u');
      expect(SHAPE.matches(raw)).toBe(isPlain);
      if (!isPlain) return;
      expect(SHAPE.wordBytes).toBe(Buffer.byteLength(text));
      expect(JSON.parse(SHAPE.wordsJson(raw))).toBe(text);
    }),
  );
});

test.each([
  ['another number', frame('"x"').replace('"index":2', '"index":3')],
  ['another kind of delta', frame('"x"').replace('text_delta', 'thinking_delta')],
  ['a further member', frame('"x","more":1')],
  ['a member behind the delta', frame('"x"', ',"more":1')],
  ['blanks elsewhere', frame('"x"').replace('{"type"', '{ "type"')],
  ['other line ends', frame('"x"').replaceAll('\n', '\r\n')],
  ['no end', frame('"x"').slice(0, -1)],
  ['something behind the end', `${frame('"x"')}\n`],
  ['an open string', frame('"x')],
  ['a number', frame('7')],
  ['a long escape', frame('"\\u0041"')],
  ['a wrong escape', frame('"\\x"')],
  ['a raw control character', frame('"\u0007"')],
  ['no name of the event', frame('"x"').replace('event: content_block_delta\n', '')],
  ['nothing', ''],
])('%s is left to the parser', (_what, text) => {
  expect(matches(text)).toBe(false);
});

test('only blocks with words have a shape', () => {
  expect(deltaShape(0, 'thinking')).not.toBeNull();
  expect(deltaShape(0, 'tool_use')).not.toBeNull();
  for (const [index, type] of [
    [undefined, 'text'],
    [0, 'redacted_thinking'],
    [0, 'constructor'],
    [0, undefined],
  ]) {
    expect(deltaShape(index, type)).toBeNull();
  }
});
