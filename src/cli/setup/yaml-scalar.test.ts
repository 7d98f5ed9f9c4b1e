import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { yamlScalar } from './yaml-scalar.ts';

describe('a text as a YAML value', () => {
  test.each(['gpt-5-mini', 'llama3.1:8b', 'anthropic/claude-sonnet-4-5@20250929', 'http://127.0.0.1:8080/v1', 'v1'])(
    'is written as it is where YAML reads it as a text: %s',
    (text) => expect(yamlScalar(text)).toBe(text),
  );

  test.each([
    'a: b',
    'a:',
    'a #b',
    '#x',
    '*x',
    '&x',
    '!x',
    '- x',
    '[x]',
    '{x}',
    '@x',
    '`x`',
    '%x',
    '|',
    '>',
    "'x",
    '"x"',
    'x\\y"z',
    ' x ',
    '',
    '~',
    '=',
    '<<',
    'null',
    'Yes',
    'no',
    'ON',
    'off',
    'true',
    'FALSE',
    'y',
    'N',
    '1.0',
    '7',
    '1e3',
    '0x1f',
    '1_000',
    '12:30:00',
    '2026-01-01',
    '.inf',
    '.nan',
    '---',
    'a\nb: c',
    'a\tb',
    '\u{85}\u{2028}\u{feff}\u{7f}\u{0}',
    'modèle',
  ])('is the same text again, whichever version of YAML reads it: %j', (text) => {
    for (const version of ['1.1', '1.2'] as const) {
      expect(parse(`model: ${yamlScalar(text)}\n`, { version })).toEqual({ model: text });
      expect(parse(`- model: ${yamlScalar(text)} # comment\n`, { version })).toEqual([{ model: text }]);
    }
    expect(yamlScalar(text)).not.toContain('\n');
  });
});
