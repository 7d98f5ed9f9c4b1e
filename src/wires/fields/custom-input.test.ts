import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { functionForm, InputUnwrapper, unwrapInput, wrapInput } from './custom-input.ts';

function unwrapped(...parts: string[]): { parts: string[]; rest: string } {
  const unwrapper = new InputUnwrapper();
  return { parts: parts.map((part) => unwrapper.add(part)), rest: unwrapper.end() };
}

describe('the input of a custom tool', () => {
  test('comes back as it was, however its arguments arrive', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: anyCharacter }),
      fc.constant('a"\\\n\u2028😀'),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), fc.boolean(), (input, size, isEscaped) => {
        const plain = wrapInput(input);
        const json = isEscaped
          ? plain.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : plain;
        const pieces = json.match(new RegExp(`[^]{1,${size}}`, 'g'))!;
        const { parts, rest } = unwrapped(...pieces);
        expect(parts.join('') + rest).toBe(input);
        expect(unwrapInput(json)).toBe(input);
      }),
    );
  });

  test('is given as it arrives, never half a character or half an escape', () => {
    expect(unwrapped('{"in', 'put": "ab', 'c\\', 'n\\ud83', 'd\\u', 'de00d', '"}')).toEqual({
      parts: ['', 'ab', 'c', '\n', '', '😀d', ''],
      rest: '',
    });
  });

  test('stays readable with raw line breaks and wrong escapes, which models write', () => {
    expect(unwrapInput('{"input":"a\nb\\d"}')).toBe('a\nb\\d');
  });

  test('that was cut off is what arrived', () => {
    expect(unwrapInput('{"input":"half a pat')).toBe('half a pat');
  });

  test('in arguments of another form is found, or is the arguments', () => {
    expect(unwrapInput('{"why":"x","input":"y"}')).toBe('y');
    expect(unwrapInput('{"patch":"z"}')).toBe('{"patch":"z"}');
    expect(unwrapInput('plain words')).toBe('plain words');
    expect(unwrapInput('')).toBe('');
  });
});

test('a grammar is told in the description of the function', () => {
  const tool = {
    type: 'custom',
    name: 'patch',
    description: 'Edits files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  };
  expect(functionForm(tool)).toMatchObject({
    type: 'function',
    name: 'patch',
    description: 'Edits files.\n\nThe input must match this lark grammar:\nstart: "x"',
    parameters: { required: ['input'] },
  });
  expect(functionForm({ type: 'custom', name: 'say' }).description).toBe('');
});
