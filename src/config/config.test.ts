import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Config,
  ConfigError,
  type ConfigSources,
  configJsonSchema,
  flagName,
  loadConfig,
  SETTINGS,
} from './config.ts';
import { configFileSchema } from './schema.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function load(sources: Partial<ConfigSources> = {}): Config {
  return loadConfig({ argvFlags: {}, env: { HOME: '/home/ada' }, cwd, ...sources });
}

function write(content: unknown, name = 'tollgate.config.json'): string {
  const path = join(cwd, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function problems(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('defaults and precedence', () => {
  test('without settings it is local mode on the loopback port, with the documented limits', () => {
    const config = load();
    expect(config.file).toBeNull();
    expect(config.listen).toEqual({
      host: '127.0.0.1',
      port: 8080,
      operationsHost: '127.0.0.1',
      operationsPort: 9464,
      consolePort: null,
    });
    expect(config.console).toBe(true);
    expect(config.hosted).toBe(false);
    expect(config.dataFolder).toBe('/home/ada/.local/share/tollgate');
    expect(config.limits).toMatchObject({ firstFrameMs: 300_000, idleMs: 120_000, bufferedMs: 300_000 });
    expect(config.limits).toMatchObject({ streamMs: 1_800_000, keepAliveMs: 15_000, stallMs: 60_000, drainMs: 60_000 });
    expect(config.hosts.map((host) => host.row.name)).toEqual(['sim']);
  });

  test('a flag wins over a variable, a variable over the file, the file over the default', () => {
    write({ listen: { port: 1001 }, log_level: 'warn' });
    expect(load().listen.port).toBe(1001);
    expect(load({ env: { TOLLGATE_PORT: '1002' } }).listen.port).toBe(1002);
    expect(load({ env: { TOLLGATE_PORT: '1002' }, argvFlags: { port: '1003' } }).listen.port).toBe(1003);
    expect(load({ env: { TOLLGATE_PORT: '' } }).listen.port).toBe(1001);
    expect(load({ argvFlags: { port: '1003' } }).logLevel).toBe('warn');
  });

  test('every setting can be given as a variable and as a flag', () => {
    const values: Record<string, string> = {
      port: '7',
      host: 'localhost',
      operationsHost: '10.0.0.9',
      operationsPort: '8',
      consolePort: '9',
      console: 'false',
      data: 'books',
      hosted: 'true',
      allowedHosts: 'A.example, b.example',
      origins: 'https://app.example',
      logLevel: 'debug',
      transport: 'node',
      frameMemory: 'false',
      sim: 'false',
    };
    const env = Object.fromEntries(SETTINGS.map((setting) => [setting.variable, values[setting.flag]]));
    const argvFlags = Object.fromEntries(SETTINGS.map((setting) => [setting.flag, values[setting.flag]]));
    const byVariable = load({ env });
    const { settingSources: _, ...byFlag } = load({ argvFlags });
    expect(byVariable).toMatchObject(byFlag);
    expect(byVariable).toMatchObject({
      listen: { host: 'localhost', port: 7, operationsHost: '10.0.0.9', operationsPort: 8, consolePort: 9 },
      console: false,
      dataFolder: join(cwd, 'books'),
      hosted: true,
      allowedHosts: ['a.example', 'b.example'],
      origins: ['https://app.example'],
      logLevel: 'debug',
      transport: 'node',
      frameMemory: false,
      hosts: [],
    });
  });

  test('the data folder is the one that the file names', () => {
    const file = write({ data: 'books' }, 'other.json');
    expect(load({ cwd: '/', argvFlags: { config: file } }).dataFolder).toBe(join(cwd, 'books'));
  });

  test('a file named by flag or variable is read instead of the usual one, and must be there', () => {
    write({ log_level: 'warn' });
    write({ log_level: 'error' }, 'other.json');
    expect(load({ argvFlags: { config: 'other.json' } }).logLevel).toBe('error');
    expect(load({ env: { TOLLGATE_CONFIG: 'other.json' } }).logLevel).toBe('error');
    expect(problems(() => load({ argvFlags: { config: 'gone.json' } }))).toContain(
      'gone.json: cannot be read (ENOENT)',
    );
  });
});

test('an unknown transport is refused by the name of the setting, with the values it may have', () => {
  expect(load().transport).toBe('own');
  expect(problems(() => load({ env: { TOLLGATE_TRANSPORT: 'undici' } }))).toBe(
    'TOLLGATE_TRANSPORT: must be one of "own", "node"',
  );
  write({ transport: 'http2' });
  expect(problems(() => load())).toMatch(/tollgate\.config\.json: transport: must be one of "own", "node"$/);
});

describe('a bad file is refused by the path of the bad field', () => {
  const row = { id: 'm', context_window: 10, hosts: [{ host: 'openai', model: 'm' }] };
  test.each<[string, unknown, string]>([
    ['unknown field', { listne: {} }, 'listne: is not a known field; did you mean "listen"? (known: listen, data'],
    [
      'unknown inside',
      { listen: { prot: 1 } },
      'listen.prot: is not a known field; did you mean "port"? (known: host,',
    ],
    [
      'unknown in a list',
      { hosts: [{ name: 'a', base_url: 'http://x', url: 1 }] },
      'hosts[0].url: is not a known field',
    ],
    [
      'unknown in a price',
      { prices: { m: { input: 1, output: 1, cached: 1 } } },
      'prices.m.cached: is not a known field',
    ],
    ['wrong type', { listen: { port: '8080' } }, 'listen.port: must be a number'],
    ['fraction', { listen: { port: 1.5 } }, 'listen.port: must be a whole number'],
    ['out of range', { listen: { port: 70_000 } }, 'listen.port: must be at most 65535'],
    ['not in the list', { log_level: 'loud' }, 'log_level: must be one of "debug", "info"'],
    ['no list', { hosts: {} }, 'hosts: must be a list'],
    [
      'a wire that no host speaks',
      { models: [{ ...row, hosts: [{ host: 'openai', model: 'm', wire: 'decisions' }] }] },
      'models[0].hosts[0].wire: must be one of "chat", "messages"',
    ],
    ['no object', [], 'must be an object'],
    [
      'bad address',
      { hosts: [{ name: 'a', base_url: 'ftp://x' }] },
      'hosts[0].base_url: must be an http or https address',
    ],
    ['user in address', { hosts: [{ name: 'a', base_url: 'https://u:p@x/v1' }] }, 'hosts[0].base_url: must be'],
    ['no address', { hosts: [{ name: 'a' }] }, 'hosts[0].base_url: is missing'],
    [
      'two keys',
      { hosts: [{ name: 'a', base_url: 'http://x', key: 'k', key_env: 'K' }] },
      'hosts[0].key_env: is set together with',
    ],
    ['same host twice', { hosts: [{ name: 'openai' }, { name: 'openai' }] }, 'hosts[1].name: appears twice'],
    ['same model twice', { models: [row, row] }, 'models[1]: m appears twice'],
    ['alias that is an id', { models: [{ ...row, aliases: ['sim-gpt'] }] }, 'models[0].aliases[0]: sim-gpt is already'],
    [
      'alias of two models',
      {
        models: [
          { ...row, aliases: ['z'] },
          { ...row, id: 'n', aliases: ['y', 'z'] },
        ],
      },
      'models[1].aliases[1]: z is already an alias of m',
    ],
    [
      'same served model twice',
      { hosts: [{ name: 'a', base_url: 'http://x', models: ['m', { id: 'm', model: 'x' }] }] },
      'hosts[0].models[1]: m appears twice',
    ],
    ['the simulated host', { hosts: [{ name: 'sim' }] }, 'hosts[0].name: is the simulated host'],
    [
      'served model',
      { hosts: [{ name: 'a', base_url: 'http://x', models: [{ id: 'm', modle: 'x' }] }] },
      'hosts[0].models[0]',
    ],
    [
      'model of no host',
      { models: [{ ...row, hosts: [{ host: 'nobody', model: 'm' }] }] },
      'models[0].hosts[0].host: no host has this name (known: openai',
    ],
    [
      'bad price',
      { models: [{ ...row, price: { input: 0.1, output: 1 } }] },
      'models[0].price.input: must be a whole number',
    ],
    [
      'price of no model',
      { prices: { 'sim-gtp': { input: 1, output: 1 } } },
      'prices.sim-gtp: no model has this id; did you mean "sim-gpt"?',
    ],
    ['default of no model', { default_model: 'nonsense' }, 'default_model: no model has this name'],
    [
      'key with a line break',
      { hosts: [{ name: 'a', base_url: 'http://x', key: 'k\n' }] },
      'hosts[0].key: must be a key',
    ],
    ['bad origin', { origins: ['https://app.example/'] }, 'origins[0]: must be an origin'],
    ['not JSON', '{"listen": {port: 1}}', 'expected a key in double quotes but found p at line 1, column 13'],
    ['same field twice', '{"data": "a", "data": "b"}', 'data appears twice'],
  ])('%s', (_, content, expected) => {
    const file = write(content);
    const message = problems(() => load());
    expect(message).toContain(expected);
    expect(message.startsWith(file)).toBe(true);
  });

  test('all problems are reported at once, and no value of the file is repeated', () => {
    write({ listen: { port: 'hunter2' }, log_level: 'hunter2', hosts: [{ name: 'a', base_url: 'hunter2', key: 7 }] });
    const message = problems(() => load());
    for (const path of ['listen.port', 'log_level', 'hosts[0].base_url', 'hosts[0].key'])
      expect(message).toContain(path);
    expect(message).not.toContain('hunter2');
  });

  test('a bad flag or variable is named as such', () => {
    expect(problems(() => load({ argvFlags: { port: 'http' } }))).toBe('--port: must be a whole number');
    expect(problems(() => load({ env: { TOLLGATE_LOG_LEVEL: 'loud' } }))).toMatch(
      /^TOLLGATE_LOG_LEVEL: must be one of/,
    );
    expect(problems(() => load({ env: { TOLLGATE_HOSTED: 'perhaps' } }))).toContain('TOLLGATE_HOSTED: must be one of');
  });

  test('a port that Kubernetes has set for a Service of the same name says so, and what to do', () => {
    expect(problems(() => load({ env: { TOLLGATE_PORT: 'tcp://10.96.0.7:80' } }))).toBe(
      'TOLLGATE_PORT: must be a whole number; Kubernetes has set it for a Service of that name: ' +
        'set enableServiceLinks to false in the pod, or give the Service another name',
    );
  });

  test('any address but loopback needs hosted mode', () => {
    expect(problems(() => load({ argvFlags: { host: '0.0.0.0' } }))).toContain('add --hosted');
    expect(load({ argvFlags: { host: '0.0.0.0', hosted: true } }).hosted).toBe(true);
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) {
      expect(load({ argvFlags: { host } }).listen.host).toBe(host);
    }
  });

  test('an address without hosted mode is refused by the place where it is set', () => {
    expect(problems(() => load({ argvFlags: { host: '0.0.0.0' } }))).toMatch(/^--host: listening on/);
    expect(problems(() => load({ env: { TOLLGATE_HOST: '0.0.0.0' } }))).toMatch(/^TOLLGATE_HOST: listening on/);
    const file = write({ listen: { host: '0.0.0.0' } });
    expect(problems(() => load())).toContain(`${file}: listen.host: listening on`);
  });

  test('an IPv6 address to listen on has no brackets', () => {
    expect(problems(() => load({ argvFlags: { host: '[::1]' } }))).toBe(
      '--host: must be an IPv6 address without brackets, like ::1',
    );
    write({ listen: { operations_host: '[::]' } });
    expect(problems(() => load())).toContain('listen.operations_host: must be an IPv6 address without brackets');
  });
});

describe('hosts and their keys', () => {
  test('a built-in host is configured exactly when its variable, or the file it names, gives a key', () => {
    const env = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY_FILE: write('sk-2\n', 'key.txt') };
    const config = load({ env });
    expect(config.hosts.map(({ row, key, keySource }) => [row.name, key?.reveal(), keySource])).toEqual([
      ['openai', 'sk-1', 'OPENAI_API_KEY'],
      ['anthropic', 'sk-2', 'ANTHROPIC_API_KEY_FILE'],
      ['sim', undefined, null],
    ]);
    const lacking = config.hostsWithoutKey.map((row) => row.name);
    expect(lacking).toEqual(
      expect.arrayContaining(['azure', 'google', 'deepseek', 'groq', 'mistral', 'xai', 'together', 'openrouter']),
    );
    expect(lacking).not.toContain('openai');
    expect(load({ env: { OPENAI_API_KEY: '' } }).hostsWithoutKey.map((row) => row.name)).toContain('openai');
    expect(JSON.stringify(config)).not.toContain('sk-');
  });

  test('an unreadable key is reported by its variable, never by its content', () => {
    const secret = write('hunter2 with spaces', 'bad.txt');
    expect(problems(() => load({ env: { OPENAI_API_KEY_FILE: join(cwd, 'gone') } }))).toBe(
      'OPENAI_API_KEY_FILE names a file that cannot be read (ENOENT)',
    );
    const message = problems(() => load({ env: { OPENAI_API_KEY_FILE: secret } }));
    expect(message).toMatch(/^OPENAI_API_KEY_FILE contains a key with spaces/);
    expect(message).not.toContain('hunter2');
    expect(problems(() => load({ env: { OPENAI_API_KEY_FILE: write('\n', 'empty.txt') } }))).toContain('an empty key');
    expect(problems(() => load({ env: { OPENAI_API_KEY: 'a', OPENAI_API_KEY_FILE: secret } }))).toContain('both set');
    expect(load({ env: { OPENAI_API_KEY_FILE: join(cwd, 'gone') }, secrets: 'leave' }).hosts).toEqual([]);
  });

  test('an own host has the defaults of a plain compatible host', () => {
    write({
      hosts: [
        { name: 'ollama', base_url: 'http://localhost:11434/v1/', models: ['llama', { id: 'q', model: 'qwen:7b' }] },
      ],
    });
    const host = load().hosts.find(({ row }) => row.name === 'ollama');
    expect(host).toMatchObject({ key: null, local: true });
    expect(host?.row).toMatchObject({
      baseUrl: 'http://localhost:11434/v1',
      outputLimitField: 'max_tokens',
    });
    expect(host?.models.map(({ id, model }) => [id, model])).toEqual([
      ['llama', 'llama'],
      ['q', 'qwen:7b'],
    ]);
  });

  test('an own host gets its key from the entry or from the variable it names, which must then be set', () => {
    write({
      hosts: [
        { name: 'a', base_url: 'https://a.example/v1', key: 'in-file', auth: 'api-key' },
        { name: 'b', base_url: 'https://b.example/v1', key_env: 'B_KEY' },
      ],
    });
    const hosts = load({ env: { B_KEY: 'from-env' } }).hosts;
    expect(hosts.map((host) => host.key?.reveal() ?? null)).toEqual(['in-file', 'from-env', null]);
    expect(hosts[0]?.row.auth).toEqual({ header: 'api-key', scheme: null });
    expect(hosts[0]?.local).toBe(false);
    expect(problems(() => load({ env: {} }))).toContain('hosts[1].key_env: names B_KEY, which is not set');
  });

  test('an entry with the name of a built-in host changes only what it says', () => {
    write({ hosts: [{ name: 'openai', base_url: 'https://proxy.example/v1' }] });
    const [openai] = load({ env: { OPENAI_API_KEY: 'sk-1' } }).hosts;
    expect(openai?.row.baseUrl).toBe('https://proxy.example/v1');
    expect(openai?.row.outputLimitField).toBe('max_completion_tokens');
    expect(load().hostsWithoutKey.map((row) => row.name)).toContain('openai');
  });
});

test('prices and the default may name models of the catalog, of the file, and of its hosts', () => {
  const price = { input: 1, output: 1 };
  const row = { id: 'own', aliases: ['mine'], context_window: 10, hosts: [{ host: 'near', model: 'm' }] };
  write({
    hosts: [{ name: 'near', base_url: 'http://localhost:1/v1', models: ['served'] }],
    models: [row],
    prices: { 'sim-gpt': price, own: price, served: price },
    default_model: 'mine',
  });
  expect([...load().prices.keys()]).toEqual(['sim-gpt', 'own', 'served']);
  expect(load().defaultModel).toBe('mine');
});

test('a built-in host whose entry names a variable needs that variable', () => {
  write({ hosts: [{ name: 'openai', key_env: 'OTHER_KEY' }] });
  expect(problems(() => load({ env: { OPENAI_API_KEY: 'sk-1' } }))).toContain('hosts[0].key_env: names OTHER_KEY');
  expect(load({ env: { OTHER_KEY: 'sk-2' } }).hosts[0]?.keySource).toBe('OTHER_KEY');
});

test('a key that cannot be read is one problem, and its variable is not called unset', () => {
  write({ hosts: [{ name: 'openai', key_env: 'OTHER_KEY' }] });
  const told = problems(() => load({ env: { OTHER_KEY: 'two words' } }));
  expect(told).toContain('OTHER_KEY contains a key with spaces');
  expect(told).not.toContain('not set');
});

test('an unreadable file is refused with the reason', () => {
  const file = write({});
  chmodSync(file, 0);
  if (process.getuid?.() === 0) return expect(load().file).toBe(file);
  expect(problems(() => load())).toContain('cannot be read (EACCES)');
});

test('the published schema is the one in force; "npm run config:schema" writes it again', () => {
  const published = readFileSync(new URL('../../tollgate.config.schema.json', import.meta.url), 'utf8');
  expect(published).toBe(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
});

test('docs/config.md names every setting that needs no file, and every limit with its default', () => {
  const page = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8');
  const { limits, rate_limit, load_limits, health } = configFileSchema.parse({});
  for (const [name, limit] of Object.entries({ ...limits, ...rate_limit, ...load_limits, ...health })) {
    expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| ${limit} \\|`, 'm'));
  }
  for (const setting of SETTINGS) {
    const isOnByDefault = ['sim', 'localHosts', 'frameMemory', 'console'].includes(setting.flag);
    const flag = flagName(setting.flag).replace('--', isOnByDefault ? '--no-' : '--');
    expect(page).toContain(`| \`${flag}\` | \`${setting.variable}\` |`);
  }
});
