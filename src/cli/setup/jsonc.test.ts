import { describe, expect, test } from 'vitest';
import { SettingsError } from './format.ts';
import { jsoncFormat as jsonc } from './jsonc.ts';

const FILE = `// mine
{
  "theme": "dark", // not the light one
  "provider": {
    /* kept */
    "other": { "x": [1, 2,] }
  }
}
`;

describe('a JSON file with comments', () => {
  test('gets a new member after the last one, and keeps all else', () => {
    expect(jsonc.write(FILE, ['model'], '"m"')).toBe(FILE.replace('  }\n}', '  },\n  "model": "m"\n}'));
    expect(jsonc.write(FILE, ['provider', 'own'], '{\n  "a": 1\n}')).toBe(
      FILE.replace('] }\n', '] },\n    "own": {\n      "a": 1\n    }\n'),
    );
  });

  test('gets missing groups with the member', () => {
    expect(jsonc.write('{}\n', ['a', 'b'], '1')).toBe('{\n  "a": {\n    "b": 1\n  }\n}\n');
    expect(jsonc.write('', ['a'], '1')).toBe('{\n  "a": 1\n}\n');
    expect(jsonc.write('{ "a": 1 }', ['b'], '2')).toBe('{ "a": 1, "b": 2 }');
    expect(jsonc.write('{\n  // nothing yet\n}\n', ['b'], '2')).toBe('{\n  "b": 2\n  // nothing yet\n}\n');
  });

  test('keeps the comment behind the last member on its line, and a trailing comma', () => {
    expect(jsonc.write('{\n\t"a": 1 // one\n}', ['b'], '2')).toBe('{\n\t"a": 1, // one\n\t"b": 2\n}');
    expect(jsonc.write('{\n  "a": 1, // one\n}', ['b'], '2')).toBe('{\n  "a": 1, // one\n  "b": 2,\n}');
  });

  test('has a value replaced where it is', () => {
    expect(jsonc.write(FILE, ['theme'], '"light"')).toBe(FILE.replace('"dark"', '"light"'));
    expect(jsonc.write('{"a": 1}', ['a', 'b'], '2')).toBe('{"a": {\n    "b": 2\n  }}');
  });

  test('reads and removes members', () => {
    expect(jsonc.read(FILE, ['provider', 'other', 'x'])).toBe('[1, 2,]');
    expect(jsonc.read(FILE, ['provider', 'none'])).toBeNull();
    expect(jsonc.read('', ['a'])).toBeNull();
    expect(jsonc.remove(FILE, ['provider', 'none'])).toBe(FILE);
    for (const path of [['model'], ['provider', 'own']]) {
      expect(jsonc.remove(jsonc.write(FILE, path, '"m"'), path)).toBe(FILE);
    }
    expect(jsonc.remove('{ "a": 1, "b": 2 }', ['b'])).toBe('{ "a": 1 }');
    expect(jsonc.remove('{ "a": 1, "b": 2 }', ['a'])).toBe('{ "b": 2 }');
    expect(jsonc.remove('{\n  "a": 1\n}\n', ['a'])).toBe('{}\n');
    expect(jsonc.remove('{\n  "a": 1 // one\n}\n', ['a'])).toBe('{\n   // one\n}\n');
  });

  test.each([
    ['{ "a": }', 'Line 1 is not valid JSON: expected a value'],
    ['{\n  "a": "x\n}', 'Line 2 is not valid JSON: a string is not closed'],
    ['{ "a": 1 } x', 'expected the end of the file'],
    ['[1]', 'expected "{"'],
    ['{ a: 1 }', 'member name in double quotes'],
    ['{ "a": 1 "b": 2 }', 'expected a comma'],
    ['{ /* ', 'a comment is not closed'],
    ['{ "a": 1, "a": 2 }', 'The member "a" occurs twice'],
  ])('is left alone if it is invalid: %s', (text, message) => {
    expect(() => jsonc.write(text, ['a'], '1')).toThrow(SettingsError);
    expect(() => jsonc.write(text, ['a'], '1')).toThrow(message);
  });
});
