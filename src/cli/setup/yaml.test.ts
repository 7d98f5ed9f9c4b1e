import { describe, expect, test } from 'vitest';
import { SettingsError } from './format.ts';
import { yamlFormat as yaml } from './yaml.ts';

const FILE = `# mine
model: gpt-5 # the good one
read:
  - A.md
  - B.md

# the last one
dark-mode: true
`;

describe('a YAML file with settings', () => {
  test('has a value replaced where it is, with its comment kept', () => {
    expect(yaml.write(FILE, ['model'], 'openai/m')).toBe(FILE.replace('gpt-5', 'openai/m'));
    expect(yaml.write(FILE, ['read'], 'C.md')).toBe(FILE.replace('read:\n  - A.md\n  - B.md', 'read: C.md'));
    expect(yaml.read(FILE, ['model'])).toBe('gpt-5');
    expect(yaml.read(`"model": 'a # b'  # c\n`, ['model'])).toBe("'a # b'");
    expect(yaml.read('url: http://127.0.0.1:8080/v1\n', ['url'])).toBe('http://127.0.0.1:8080/v1');
  });

  test('gets a new setting at its end, and loses it again', () => {
    const added = yaml.write(FILE, ['openai-api-base'], 'http://x/v1');
    expect(added).toBe(`${FILE}openai-api-base: http://x/v1\n`);
    expect(yaml.remove(added, ['openai-api-base'])).toBe(FILE);
    expect(yaml.remove(FILE, ['none'])).toBe(FILE);
    expect(yaml.write('', ['a'], '1')).toBe('a: 1\n');
    expect(yaml.remove('a: 1\n', ['a'])).toBe('');
  });

  test('does not take nested keys and text for settings', () => {
    const text = 'text: |\n  model: no\nnested:\n  model: no\n';
    expect(yaml.read(text, ['model'])).toBeNull();
    expect(yaml.write(text, ['model'], 'm')).toBe(`${text}model: m\n`);
  });

  test.each([
    ['{ model: x }\n', 'flow style'],
    ['- model: x\n', 'The file holds a list'],
    ['a:\n\tb: 1\n', 'tabs'],
  ])('is left alone if it is written in another way: %j', (text, message) => {
    expect(() => yaml.write(text, ['m'], '1')).toThrow(SettingsError);
    expect(() => yaml.write(text, ['m'], '1')).toThrow(message);
  });
});

describe('a list in a YAML file', () => {
  const PATH = ['models', 'name', 'Own'];
  const LIST = `name: Mine
models:
  # the usual one
  - name: Other # kept
    provider: x
    roles:
      - chat

rules: []
`;

  test('gets a new element before the others', () => {
    const added = yaml.write(LIST, PATH, 'name: Own\nprovider: y');
    expect(added).toBe(LIST.replace('  - name: Other', '  - name: Own\n    provider: y\n  - name: Other'));
    expect(yaml.read(added, PATH)).toBe('name: Own\nprovider: y');
    expect(yaml.remove(added, PATH)).toBe(LIST);
  });

  test('has its own element replaced, wherever its name is in it', () => {
    const text = LIST.replace('name: Other # kept\n    provider: x', 'provider: x\n    name: "Own"');
    expect(yaml.read(text, PATH)).toBe('provider: x\nname: "Own"\nroles:\n  - chat');
    expect(yaml.write(text, PATH, 'name: Own')).toBe(
      'name: Mine\nmodels:\n  # the usual one\n  - name: Own\n\nrules: []\n',
    );
  });

  test('is created if it is missing or empty, and may stand without indentation', () => {
    expect(yaml.write('a: 1\n', PATH, 'name: Own')).toBe('a: 1\nmodels:\n  - name: Own\n');
    expect(yaml.write('models: []\na: 1\n', PATH, 'name: Own')).toBe('models:\n  - name: Own\na: 1\n');
    expect(yaml.write('models:\n- name: Other\n', PATH, 'name: Own')).toBe('models:\n- name: Own\n- name: Other\n');
    expect(yaml.remove('models:\n  - name: Own\na: 1\n', PATH)).toBe('models: []\na: 1\n');
  });

  test('may be the whole file', () => {
    const path = ['', 'model_id', 'own'];
    const text = '# models\n- model_id: other\n  api_base: x\n';
    const added = yaml.write(text, path, 'model_id: own\napi_base: y');
    expect(added).toBe('# models\n- model_id: own\n  api_base: y\n- model_id: other\n  api_base: x\n');
    expect(yaml.remove(added, path)).toBe(text);
    expect(yaml.write('', path, 'model_id: own')).toBe('- model_id: own\n');
    expect(() => yaml.write('a: 1\n', path, 'model_id: own')).toThrow('must hold a list');
  });

  test('is left alone if it is written in one line', () => {
    expect(() => yaml.write('models: [{ name: Other }]\n', PATH, 'name: Own')).toThrow(
      '"models" is a list in one line',
    );
  });
});
