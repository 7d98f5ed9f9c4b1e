import { describe, expect, test } from 'vitest';
import { SettingsError } from './format.ts';
import { tomlFormat as toml } from './toml.ts';

const FILE = `# mine
model = "gpt-5" # the good one
notes = """
[model_providers.tollgate]
model = "no"
"""
list = [
  "a", # ]
  'b',
]

# about servers
[mcp_servers.docs]
command = "npx"

[[rules]]
name = "x"
`;

describe('a TOML file', () => {
  test('has a root key replaced where it is, with its comment kept', () => {
    expect(toml.write(FILE, ['model'], '"m"')).toBe(FILE.replace('"gpt-5"', '"m"'));
    expect(toml.read(FILE, ['list'])).toBe('[\n  "a", # ]\n  \'b\',\n]');
  });

  test('gets a new root key before the first table', () => {
    expect(toml.write(FILE, ['model_provider'], '"t"')).toBe(
      FILE.replace("'b',\n]\n", `'b',\n]\nmodel_provider = "t"\n`),
    );
    expect(toml.write('[a]\nx = 1\n', ['k'], '1')).toBe('k = 1\n\n[a]\nx = 1\n');
    expect(toml.write('', ['k'], '1')).toBe('k = 1\n');
    expect(toml.write('a = 1', ['k'], '1')).toBe('a = 1\nk = 1\n');
  });

  test('gets a new table at its end, and has its own table replaced', () => {
    const path = ['model_providers', 'tollgate'];
    const added = toml.write(FILE, path, 'name = "T"');
    expect(added).toBe(`${FILE}\n[model_providers.tollgate]\nname = "T"\n`);
    expect(toml.read(added, path)).toBe('name = "T"');
    const followed = `${added}\n# about projects\n[projects."/x"]\ntrust_level = "trusted"\n`;
    expect(toml.write(followed, path, 'name = "U"\nx = 1')).toBe(followed.replace('"T"', '"U"\nx = 1'));
    expect(toml.remove(added, path)).toBe(FILE);
    expect(toml.remove(followed, path)).toBe(followed.replace('\n[model_providers.tollgate]\nname = "T"\n', ''));
    expect(toml.read('[model_providers . "tollgate"]\nx = 1\n', path)).toBe('x = 1');
  });

  test('does not take text in strings and other tables for settings', () => {
    expect(toml.read(FILE, ['model_providers', 'tollgate'])).toBeNull();
    expect(toml.read(FILE, ['command'])).toBeNull();
    expect(toml.read(FILE, ['name'])).toBeNull();
    expect(toml.remove(FILE, ['command'])).toBe(FILE);
    expect(toml.remove(FILE, ['model'])).toBe(FILE.replace('model = "gpt-5" # the good one\n', ''));
  });

  test.each([
    ['model_providers = { tollgate = { name = "x" } }\n', '"model_providers" is written in one line'],
    ['model_providers.tollgate.name = "x"\n', '"model_providers.tollgate.name" is written in one line'],
    ['[model_providers]\ntollgate = { name = "x" }\n', '"model_providers.tollgate" is written in one line'],
    ['a = \n', 'Line 1 is not valid TOML: expected a value'],
    ['a = "x\n', 'a string is not closed'],
    ['a = [1,\n', 'a bracket is not closed'],
    ['a = 1 2\n', 'expected the end of the line'],
    ['= 1\n', 'expected a key'],
    ['[a\n', 'expected "]"'],
  ])('is left alone if it is invalid, or defines the table in another way: %j', (text, message) => {
    const write = () => toml.write(text, ['model_providers', 'tollgate'], 'name = "T"');
    expect(write).toThrow(SettingsError);
    expect(write).toThrow(message);
  });

  test('may hold quotes at the end of a long string, dates and nested groups', () => {
    const text = 'a = """x""""\nb = 2026-01-01 10:00:00\nc = { d = [{ e = "]" }] }\nf = 1\n';
    expect(toml.write(text, ['f'], '2')).toBe(text.replace('f = 1', 'f = 2'));
  });
});
