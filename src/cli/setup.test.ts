import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CliFixture, type CliRun } from '../../test/cli-fixture.ts';
import { mintSecret } from '../accounts/keys.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
let home: string;

beforeEach(() => {
  cli = new CliFixture();
  home = join(cli.folder, 'home');
});
afterEach(() => cli.remove());

const setup = (...args: string[]): Promise<CliRun> => cli.run(['setup', ...args], { HOME: home });
const place = (path: string): string => join(home, path);
const read = (path: string): string => readFileSync(place(path), 'utf8');

function give(path: string, text: string): void {
  mkdirSync(dirname(place(path)), { recursive: true });
  writeFileSync(place(path), text);
}

/** A file as somebody has it, and what the client writes into it by itself. */
const FILES: readonly { client: string; path: string; own: string; later: (text: string) => string; after: string }[] =
  [
    {
      client: 'codex',
      path: '.codex/config.toml',
      own: '# mine\nmodel = "gpt-5" # usual\napproval_policy = "never"\n\n[mcp_servers.docs]\ncommand = "npx"\n',
      later: (text) => `${text}\n[projects."/w"]\ntrust_level = "trusted"\n`,
      after:
        '# mine\nmodel = "gpt-5" # usual\napproval_policy = "never"\n\n[mcp_servers.docs]\ncommand = "npx"\n' +
        '\n[projects."/w"]\ntrust_level = "trusted"\n',
    },
    {
      client: 'opencode',
      path: '.config/opencode/opencode.json',
      own: '{\n  // colours\n  "theme": "dark",\n  "provider": { "mine": { "name": "Mine" } }\n}\n',
      later: (text) => text.replace('"dark"', '"light"'),
      after: '{\n  // colours\n  "theme": "light",\n  "provider": { "mine": { "name": "Mine" } }\n}\n',
    },
    {
      client: 'aider',
      path: '.aider.conf.yml',
      own: '# mine\nopenai-api-key: sk-secret-of-mine\ndark-mode: true\n',
      later: (text) => text.replace('true', 'false'),
      after: '# mine\nopenai-api-key: sk-secret-of-mine\ndark-mode: false\n',
    },
    {
      client: 'cline',
      path: '.cline/data/settings/providers.json',
      own: '{\n  "version": 1,\n  "lastUsedProvider": "cline",\n  "providers": {}\n}\n',
      later: (text) => text.replace('"version": 1', '"version": 1,\n  "modes": {}'),
      after: '{\n  "version": 1,\n  "modes": {},\n  "lastUsedProvider": "cline",\n  "providers": {}\n}\n',
    },
    {
      client: 'continue',
      path: '.continue/config.yaml',
      own: 'name: Mine\nversion: 0.0.1\nschema: v1\nmodels:\n  # usual\n  - name: Other\n    provider: x\nrules: []\n',
      later: (text) => `${text}docs: []\n`,
      after:
        'name: Mine\nversion: 0.0.1\nschema: v1\nmodels:\n  # usual\n  - name: Other\n    provider: x\nrules: []\ndocs: []\n',
    },
    {
      client: 'qwen',
      path: '.qwen/settings.json',
      own: '{\n  // mine\n  "model": { "name": "qwen3" },\n  "ui": { "theme": "x" }\n}\n',
      later: (text) => text.replace('"theme": "x" }', '"theme": "x" },\n  "$version": 4'),
      after: '{\n  // mine\n  "model": { "name": "qwen3" },\n  "ui": { "theme": "x" },\n  "$version": 4\n}\n',
    },
    {
      client: 'llm',
      path: '.config/io.datasette.llm/extra-openai-models.yaml',
      own: '# mine\n- model_id: other\n  model_name: x\n',
      later: (text) => `${text}- model_id: third\n`,
      after: '# mine\n- model_id: other\n  model_name: x\n- model_id: third\n',
    },
    {
      client: 'claude',
      path: '.claude/settings.json',
      own: '{\n  "model": "opus",\n  "env": { "EDITOR": "vi" },\n  "permissions": { "allow": [] }\n}\n',
      later: (text) => text.replace('"allow": []', '"allow": ["Bash"]'),
      after: '{\n  "model": "opus",\n  "env": { "EDITOR": "vi" },\n  "permissions": { "allow": ["Bash"] }\n}\n',
    },
  ];

/** One client adds the version itself. */
const addressOf = (client: string, origin: string): string => (client === 'claude' ? `"${origin}"` : `${origin}/v1`);
/** The cheapest simulated model that the client can call. */
const modelOf = (client: string): string => (client === 'claude' ? 'sim-claude' : 'sim-gpt-mini');
const LOCAL = 'http://127.0.0.1:8080';

describe.each(FILES)('tollgate setup $client', ({ client, path, own, later, after }) => {
  test('writes its file if there is none, for its owner only, and --undo deletes it', async () => {
    const { code, out, err } = await setup(client);
    expect([code, err]).toEqual([EXIT.ok, expect.stringContaining('There was no such file before.')]);
    expect(out.startsWith(`${place(path)}\n+ `)).toBe(true);
    expect(read(path)).toContain(addressOf(client, LOCAL));
    expect(read(path)).toContain(modelOf(client));
    expect(statSync(place(path)).mode & 0o777).toBe(0o600);
    expect((await setup(client, '--undo')).code).toBe(EXIT.ok);
    expect(existsSync(place(path))).toBe(false);
    expect(existsSync(`${place(path)}.before-tollgate`)).toBe(false);
  });

  test('--undo leaves a file that was there and empty, and does not delete it', async () => {
    give(path, '');
    const { code, err } = await setup(client);
    expect([code, err]).toEqual([EXIT.ok, expect.stringContaining('is a copy of the file from before.')]);
    expect(read(path)).toContain(addressOf(client, LOCAL));
    expect((await setup(client, '--undo')).code).toBe(EXIT.ok);
    expect(read(path)).toBe('');
    expect(existsSync(`${place(path)}.before-tollgate`)).toBe(false);
  });

  test('keeps all else in a file that is there, and --undo brings every byte back', async () => {
    give(path, own);
    chmodSync(place(path), 0o644);
    const first = await setup(client);
    expect(first.err).toContain(`${place(path)}.before-tollgate is a copy of the file from before.`);
    const written = read(path);
    expect(written).toContain(addressOf(client, LOCAL));
    expect(statSync(place(path)).mode & 0o777).toBe(0o644);
    expect(read(`${path}.before-tollgate`)).toBe(own);

    const again = await setup(client);
    expect([again.code, again.err]).toEqual([EXIT.ok, expect.stringContaining('nothing was changed')]);
    expect(read(path)).toBe(written);
    expect(read(`${path}.before-tollgate`)).toBe(own);

    expect((await setup(client, '--undo')).err).toContain('back to what they were');
    expect(read(path)).toBe(own);
    expect((await setup(client, '--undo')).err).toContain('There is nothing to undo');
  });

  test('keeps a byte order mark in front of everything it writes, and --undo leaves it there', async () => {
    give(path, own);
    await setup(client);
    const written = read(path);
    await setup(client, '--undo');
    give(path, `\ufeff${own}`);
    await setup(client);
    expect(read(path)).toBe(`\ufeff${written}`);
    await setup(client, '--undo');
    expect(read(path)).toBe(`\ufeff${own}`);
  });

  test('--undo keeps what has changed in the file since', async () => {
    give(path, own);
    await setup(client);
    give(path, later(read(path)));
    expect((await setup(client, '--undo')).code).toBe(EXIT.ok);
    expect(read(path)).toBe(after);
  });

  test('--dry-run shows the same changes and writes nothing', async () => {
    give(path, own);
    const { out, err } = await setup(client, '--dry-run');
    expect(err).toContain('Nothing was written, because of --dry-run.');
    expect([read(path), existsSync(`${place(path)}.before-tollgate`)]).toEqual([own, false]);
    expect((await setup(client)).out).toBe(out);
    const undone = await setup(client, '--undo', '--dry-run');
    expect(undone.out).toContain('\n- ');
    expect(existsSync(`${place(path)}.before-tollgate`)).toBe(true);
  });

  test('names the variable of the key, never the key, and another address and model', async () => {
    const args = ['--url', 'https://gate.example.com/v1/', '--model', 'some-model', '--key-env', 'MY_KEY'];
    const { code, out, err } = await cli.run(['setup', client, ...args], { HOME: home, MY_KEY: 'tg_live_secret' });
    expect(code).toBe(EXIT.ok);
    expect(read(path)).toContain(addressOf(client, 'https://gate.example.com'));
    expect(read(path)).toContain('some-model');
    expect(`${read(path)}${err}`).toContain('MY_KEY');
    expect(read(path)).not.toContain('local');
    expect(`${read(path)}${out}${err}`).not.toContain('tg_live_secret');
  });
});

describe('tollgate setup', () => {
  test('prefers a real model to a simulated one', async () => {
    await cli.run(['setup', 'codex'], { HOME: home, OPENAI_API_KEY: 'sk-x' });
    expect(read('.codex/config.toml')).not.toContain('sim-');
  });

  test('does not show a key that is replaced', async () => {
    give('.aider.conf.yml', FILES[2]!.own);
    const { out } = await setup('aider');
    expect(out).toContain('- openai-api-key: ***\n');
    expect(out).not.toContain('sk-secret-of-mine');
  });

  test('does not show a key that --undo puts back', async () => {
    give('.aider.conf.yml', FILES[2]!.own);
    await setup('aider');
    const { out } = await setup('aider', '--undo');
    expect(out).toContain('+ openai-api-key: ***\n');
    expect(out).not.toContain('sk-secret-of-mine');
    expect(read('.aider.conf.yml')).toBe(FILES[2]!.own);
  });

  test('shows no key of a file that is one line', async () => {
    give('.qwen/settings.json', '{"mcp":{"GITHUB_TOKEN":"ghp_mine"},"security":{"auth":{"apiKey":"sk-mine"}}}\n');
    const { out } = await setup('qwen');
    const { out: undone } = await setup('qwen', '--undo');
    expect(out + undone).not.toMatch(/ghp_mine|sk-mine/);
    expect(out + undone).toContain('"GITHUB_TOKEN":"***"');
  });

  test('edits the file that a symbolic link leads to, and leaves the link', async () => {
    give('dotfiles/codex.toml', FILES[0]!.own);
    mkdirSync(place('.codex'));
    symlinkSync('../dotfiles/codex.toml', place('.codex/config.toml'));
    await setup('codex');
    expect(lstatSync(place('.codex/config.toml')).isSymbolicLink()).toBe(true);
    expect(read('dotfiles/codex.toml')).toContain('http://127.0.0.1:8080/v1');
    await setup('codex', '--undo');
    expect(lstatSync(place('.codex/config.toml')).isSymbolicLink()).toBe(true);
    expect(read('dotfiles/codex.toml')).toBe(FILES[0]!.own);
  });

  test('writes the file that a symbolic link leads to, though it is not there yet, and --undo leaves the link', async () => {
    mkdirSync(place('.codex'), { recursive: true });
    symlinkSync('../dotfiles/codex.toml', place('.codex/config.toml'));
    await setup('codex');
    expect(lstatSync(place('.codex/config.toml')).isSymbolicLink()).toBe(true);
    expect(read('dotfiles/codex.toml')).toContain('http://127.0.0.1:8080/v1');
    await setup('codex', '--undo');
    expect(lstatSync(place('.codex/config.toml')).isSymbolicLink()).toBe(true);
    expect(existsSync(place('dotfiles/codex.toml'))).toBe(false);
  });

  test('takes an empty variable for one that is not set', async () => {
    const empty = { HOME: home, XDG_CONFIG_HOME: '', CODEX_HOME: '', CLINE_DIR: '', CLINE_DATA_DIR: '' };
    const files = ['.codex/config.toml', '.config/opencode/opencode.json', '.cline/data/settings/providers.json'];
    for (const [at, client] of ['codex', 'opencode', 'cline'].entries()) {
      const { out } = await cli.run(['setup', client, '--dry-run'], empty);
      expect(out.split('\n')[0]).toBe(place(files[at]!));
    }
  });

  test('writes the address of the gateway that runs on this data folder, wherever it listens', async () => {
    cli.holder = { pid: 7, socketPath: null, startedMs: 0, url: 'http://0.0.0.0:9123' };
    expect((await setup('codex')).code).toBe(EXIT.ok);
    expect(read('.codex/config.toml')).toContain('"http://127.0.0.1:9123/v1"');
    await setup('codex', '--url', 'http://127.0.0.1:9999', '--model', 'm');
    expect(read('.codex/config.toml')).toContain('"http://127.0.0.1:9999/v1"');
  });

  test.each(['a: b', '#x', 'yes', '1.0', '*x', 'two\nlines: 1', 'llama3.1:8b'])(
    'writes the model id %j so that YAML reads the same text, and --undo removes it',
    async (model) => {
      for (const [client, path] of [
        ['aider', '.aider.conf.yml'],
        ['continue', '.continue/config.yaml'],
        ['llm', '.config/io.datasette.llm/extra-openai-models.yaml'],
      ] as const) {
        await setup(client, '--url', 'http://[::1]:8080', '--model', model);
        const settings = JSON.stringify(parse(read(path), { version: '1.1' }));
        expect(settings).toContain(`${JSON.stringify(model).slice(1)},`);
        expect(settings).toContain('"http://[::1]:8080/v1"');
        expect((await setup(client, '--undo')).code).toBe(EXIT.ok);
        expect(existsSync(place(path))).toBe(false);
      }
    },
  );

  test('prints one line of JSON if asked', async () => {
    const { out } = await setup('llm', '--json', '--dry-run');
    expect(JSON.parse(out)).toMatchObject({
      client: 'llm',
      file: place('.config/io.datasette.llm/extra-openai-models.yaml'),
      changes: expect.arrayContaining(['+ - model_id: tollgate']),
      written: false,
    });
  });

  test('follows the variables by which clients move their files', async () => {
    const folder = join(home, 'moved');
    const env = {
      HOME: home,
      CODEX_HOME: folder,
      CLINE_DIR: folder,
      CONTINUE_GLOBAL_DIR: folder,
      LLM_USER_PATH: folder,
    };
    for (const client of ['codex', 'cline', 'continue', 'llm']) await cli.run(['setup', client], env);
    for (const file of ['config.toml', 'data/settings/providers.json', 'config.yaml', 'extra-openai-models.yaml']) {
      expect(existsSync(join(folder, file)), file).toBe(true);
    }
  });

  test('writes opencode.jsonc if it is there, because its settings replace those of opencode.json', async () => {
    const own = '{ "model": "other/own" }\n';
    give('.config/opencode/opencode.json', own);
    give('.config/opencode/opencode.jsonc', own);
    await setup('opencode');
    expect(read('.config/opencode/opencode.jsonc')).toContain('tollgate/sim-gpt-mini');
    expect(read('.config/opencode/opencode.json')).toBe(own);
  });

  test.each<[string, string[], string]>([
    ['an unknown client', ['vim'], 'There is no client "vim". Clients: codex, claude, opencode, aider'],
    ['an unknown model', ['codex', '--model', 'gpt-none'], '"gpt-none" is not a model that generates text here'],
    ['a model without text', ['codex', '--model', 'sim-embed'], '"sim-embed" is not a model that generates text here'],
    [
      'a model of another API than the client calls',
      ['claude', '--model', 'sim-gpt-mini'],
      'Claude Code cannot call "sim-gpt-mini", because this model does not have the capability "messages"',
    ],
    ['an invalid address', ['codex', '--url', 'gate'], '--url gate is not the address of a gateway'],
    ['an empty model', ['codex', '--url', 'http://localhost:1', '--model', ''], 'name the model too: --model ID'],
    ['another gateway without a model', ['codex', '--url', 'http://localhost:1'], 'name the model too: --model ID'],
    ['another gateway without a key', ['codex', '--url', 'https://gate.example.com'], '--key-env TOLLGATE_API_KEY'],
    [
      'what cannot be a variable',
      ['codex', '--key-env', 'sk-x'],
      '--key-env must be the name of an environment variable',
    ],
  ])('refuses %s', async (_, args, message) => {
    const { code, err } = await setup(...args);
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining(message)]);
    expect(existsSync(home)).toBe(false);
  });

  test('refuses a key in place of its variable, which it could be taken for, and does not repeat it', async () => {
    const key = mintSecret().secret.reveal();
    for (const args of [
      ['setup', 'codex'],
      ['jobs', 'list'],
    ]) {
      const { code, out, err } = await cli.run([...args, '--key-env', key], { HOME: home });
      expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('and not the key itself')]);
      expect(out + err).not.toContain(key);
    }
    expect(existsSync(place('.codex'))).toBe(false);
  });

  test('refuses a hosted gateway without the variable of a key', async () => {
    const { code, err } = await cli.run(['setup', 'codex'], { HOME: home, TOLLGATE_HOSTED: 'true' });
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('This gateway needs a key')]);
  });

  test('knows from the running gateway whether it needs a key, whatever the settings of the command say', async () => {
    const holder = { pid: 7, socketPath: null, startedMs: 0, url: 'http://127.0.0.1:9123' };
    cli.holder = { ...holder, needsKey: true };
    const { code, err } = await setup('codex', '--dry-run');
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('This gateway needs a key')]);
    expect((await cli.run(['jobs', 'list'])).err).toContain('TOLLGATE_API_KEY is not set');
    cli.holder = { ...holder, needsKey: false };
    const given = { HOME: home, TOLLGATE_HOSTED: 'true' };
    expect((await cli.run(['setup', 'codex', '--dry-run'], given)).code).toBe(EXIT.ok);
  });

  test('leaves a file alone that it cannot edit, and says which and what to do', async () => {
    give('.codex/config.toml', 'model = \n');
    const { code, err } = await setup('codex');
    expect(code).toBe(EXIT.no);
    expect(err).toContain(
      `${place('.codex/config.toml')} was not changed. Line 1 is not valid TOML: expected a value. Correct that and run`,
    );
    expect(read('.codex/config.toml')).toBe('model = \n');
    give('.aider.conf.yml', `# ${'x'.repeat(1024 * 1024)}\n`);
    expect((await setup('aider')).err).toContain('.aider.conf.yml is larger than 1048576 bytes; edit it by hand.');
  });

  test('says which file cannot be read or written', async () => {
    mkdirSync(place('.aider.conf.yml'), { recursive: true });
    const { code, err } = await setup('aider');
    expect([code, err]).toEqual([
      EXIT.no,
      expect.stringMatching(/Cannot read or write .*\.aider\.conf\.yml \(EISDIR\)/),
    ]);
  });
});
