import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CONFIG_FILE_NAME,
  type Config,
  ConfigError,
  type ConfigSources,
  describeProblem,
  loadConfig,
} from './config.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function load(file: object = {}, env: Record<string, string> = {}, more: Partial<ConfigSources> = {}): Config {
  writeFileSync(join(cwd, CONFIG_FILE_NAME), JSON.stringify(file));
  return loadConfig({ argvFlags: {}, env, cwd, ...more });
}

function problems(...terms: Parameters<typeof load>): string {
  try {
    load(...terms);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(describeProblem).join('\n').replaceAll(`${cwd}/`, '');
    throw error;
  }
  return '';
}

const names = (hosts: Config['hosts']) => hosts.map(({ row }) => row.name);
const hostOf = (config: Config, name: string) => config.hosts.find(({ row }) => row.name === name);

describe('a host whose address differs for everyone', () => {
  const key = { AZURE_OPENAI_API_KEY: 'k' };

  test('is found by its variables: the address and the key', () => {
    const config = load({}, { ...key, AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/' });
    expect(hostOf(config, 'azure')).toMatchObject({
      row: { baseUrl: 'https://mine.openai.azure.com/openai/v1', auth: { header: 'api-key', scheme: null } },
      keySource: 'AZURE_OPENAI_API_KEY',
      local: false,
    });
    const both = { ...key, AZURE_OPENAI_ENDPOINT: 'https://a.example', AZURE_OPENAI_BASE_URL: 'https://b.example' };
    expect(hostOf(load({}, both), 'azure')?.row.baseUrl).toBe('https://b.example/openai/v1');
  });

  test('needs both of them', () => {
    for (const env of [key, { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/' }]) {
      const config = load({}, env);
      expect(hostOf(config, 'azure')).toBeUndefined();
      expect(config.hostsWithoutKey.map(({ name }) => name)).toContain('azure');
    }
  });

  test('an address in the file wins; a bad variable is reported without its value', () => {
    const file = { hosts: [{ name: 'azure', base_url: 'https://file.example/openai/v1', models: ['gpt-5'] }] };
    expect(hostOf(load(file, { ...key, AZURE_OPENAI_ENDPOINT: 'https://x.example' }), 'azure')?.row.baseUrl).toBe(
      'https://file.example/openai/v1',
    );
    const told = problems({}, { ...key, AZURE_OPENAI_ENDPOINT: 'hunter2' });
    expect(told).toBe('AZURE_OPENAI_ENDPOINT must be an address like "https://resource.example/openai/v1"');
  });
});

describe('local servers', () => {
  test('are looked for on their usual ports in local mode, but not on our own', () => {
    const guesses = (config: Config) => config.guessedHosts.map(({ row }) => row.baseUrl);
    expect(guesses(load())).toEqual([
      'http://127.0.0.1:11434/v1',
      'http://127.0.0.1:8000/v1',
      'http://127.0.0.1:1234/v1',
    ]);
    expect(guesses(load({ listen: { port: 8000 } }))).toEqual([
      'http://127.0.0.1:11434/v1',
      'http://127.0.0.1:1234/v1',
    ]);
    expect(load().guessedHosts.every(({ local, key }) => local && key === null)).toBe(true);
  });

  test('are not looked for in hosted mode, if that is switched off, or by a command that needs no host', () => {
    const master = { TOLLGATE_MASTER_KEY: 'A'.repeat(43) };
    expect(load({ hosted: true }, master).guessedHosts).toEqual([]);
    expect(load({ local_hosts: false }).guessedHosts).toEqual([]);
    expect(load({}, { TOLLGATE_LOCAL_HOSTS: 'false' }).guessedHosts).toEqual([]);
    expect(load({}, {}, { argvFlags: { localHosts: false } }).guessedHosts).toEqual([]);
    expect(load({}, {}, { secrets: 'leave' }).guessedHosts).toEqual([]);
  });

  test('are hosts when a variable names them, in either mode, and are then not guessed', () => {
    const env = { OLLAMA_HOST: 'gpu.lan', LLAMACPP_BASE_URL: 'http://localhost:9090', VLLM_API_KEY: 'k' };
    const config = load({}, env);
    expect(hostOf(config, 'ollama')).toMatchObject({ row: { baseUrl: 'http://gpu.lan:11434/v1' }, local: true });
    expect(hostOf(config, 'llamacpp')?.row.baseUrl).toBe('http://localhost:9090/v1');
    expect(names(config.guessedHosts)).toEqual(['vllm', 'lmstudio']);
    const hosted = load({ hosted: true }, { ...env, TOLLGATE_MASTER_KEY: 'A'.repeat(43) });
    expect(names(hosted.hosts)).toEqual(['ollama', 'llamacpp']);
  });

  test('are hosts when the file names them, at their usual address or another', () => {
    const config = load({
      hosts: [
        { name: 'lmstudio', models: ['m'] },
        { name: 'vllm', base_url: 'http://gpu/v1' },
      ],
    });
    expect(hostOf(config, 'lmstudio')?.row.baseUrl).toBe('http://127.0.0.1:1234/v1');
    expect(hostOf(config, 'vllm')).toMatchObject({ row: { baseUrl: 'http://gpu/v1' }, local: true });
    expect(names(config.guessedHosts)).toEqual(['ollama']);
  });

  test('cannot be this gateway itself', () => {
    expect(problems({}, { LLAMACPP_BASE_URL: 'http://localhost:8080' })).toBe(
      'LLAMACPP_BASE_URL: the address of "llamacpp" is where this gateway listens; name another port',
    );
    const own = { hosts: [{ name: 'own', base_url: 'http://127.0.0.1:9000/v1' }], listen: { port: 9000 } };
    expect(problems(own)).toContain('hosts[0].base_url: the address of "own" is where this gateway listens');
  });
});

test('an entry may say how its host differs from its wire, but not change fields that only we write', () => {
  const hosts = [
    {
      name: 'own',
      base_url: 'https://own.example/v1',
      omits: ['stream_options'],
      adds: { safe: true },
      developer_as_system: true,
      traces: 'none',
      call_id_chars: 9,
    },
  ];
  expect(hostOf(load({ hosts }), 'own')?.row.quirks).toEqual({
    omits: ['stream_options'],
    adds: { safe: true },
    developerAsSystem: true,
    traces: 'none',
    callIdChars: 9,
  });
  for (const chars of [7, 65, 8.5])
    expect(problems({ hosts: [{ ...hosts[0], call_id_chars: chars }] })).toContain('hosts[0].call_id_chars');
  const mistral = load({ hosts: [{ name: 'mistral', key: 'k', traces: 'reasoning' }] });
  expect(hostOf(mistral, 'mistral')?.row.quirks).toMatchObject({ omits: ['stream_options'], traces: 'reasoning' });
  for (const field of ['model', 'max_tokens', 'stream'])
    expect(problems({ hosts: [{ ...hosts[0], adds: { [field]: 1 } }] })).toContain('this gateway writes itself');
});

describe('a host that costs more than callers pay', () => {
  const OWN = { name: 'own', base_url: 'https://own.example/v1' };
  const served = (more: object) => ({ ...OWN, models: [{ id: 'm', price: { input: 6, output: 9 }, ...more }] });
  const prices = { m: { input: 5, output: 9 } };
  const told =
    '"own" charges $0.000000006 for input, callers of m pay $0.000000005 (6 and 5 nanodollars per million tokens)';

  test('is refused by its path, with both prices', () => {
    expect(problems({ hosts: [served({})], prices })).toContain(`hosts[0].models[0].price: ${told}`);
    const hosts = [{ host: 'own', model: 'x', price: { input: 6, output: 9 } }];
    const row = { id: 'm', context_window: 9, price: prices.m, hosts };
    expect(problems({ hosts: [OWN], models: [row] })).toContain(`models[0].hosts[0].price: ${told}`);
    expect(problems({ hosts: [OWN], models: [row] }, {}, { secrets: 'leave' })).toContain('models[0]');
  });

  test('is accepted if the loss is allowed, for the model or for the host', () => {
    expect(problems({ hosts: [served({ allow_loss: true })], prices })).toBe('');
    expect(problems({ hosts: [{ ...served({}), allow_loss: true }], prices })).toBe('');
    const hosts = [{ host: 'own', model: 'x', price: { input: 6, output: 9 }, allow_loss: true }];
    expect(problems({ hosts: [OWN], models: [{ id: 'm', context_window: 9, price: prices.m, hosts }] })).toBe('');
  });

  test('is accepted if callers pay as much, or if the model has no price and is not served', () => {
    expect(problems({ hosts: [served({})], prices: { m: { input: 6, output: 9 } } })).toBe('');
    expect(problems({ hosts: [served({})] })).toBe('');
  });

  test('is refused if a price of the file is below what a built-in host charges', () => {
    const file = { prices: { 'gpt-oss-120b': { input: 1, output: 1 } } };
    expect(problems(file)).toBe('');
    const known = problems(file, { GROQ_API_KEY: 'k' });
    expect(known).toMatch(
      /prices\.gpt-oss-120b: "groq" charges \$[\d.]+ for input, callers of gpt-oss-120b pay \$0.000000001 /,
    );
    expect(problems({ ...file, hosts: [{ name: 'groq', allow_loss: true }] }, { GROQ_API_KEY: 'k' })).toBe('');
  });

  test('free models of a local host may not cost anything either', () => {
    const near = { ...served({}), base_url: 'http://localhost:1/v1' };
    expect(problems({ hosts: [near] })).toContain('"own" charges $0.000000006 for input, callers of m pay $0.00');
  });
});

describe('the simulated host in hosted mode', () => {
  const key = { OPENAI_API_KEY: 'k' };
  const own = { name: 'own', base_url: 'https://own.example/v1' };

  test('is offered while there is no real host, and no longer once there is one', () => {
    expect(names(load({ hosted: true }).hosts)).toEqual(['sim']);
    expect(names(load({ hosted: true }, key).hosts)).toEqual(['openai']);
    expect(names(load({ hosted: true, hosts: [own] }).hosts)).toEqual(['own']);
  });

  test('is offered beside real hosts if the operator asks for it', () => {
    expect(names(load({ hosted: true, simulated_host: true }, key).hosts)).toEqual(['openai', 'sim']);
    expect(names(load({ hosted: true }, { ...key, TOLLGATE_SIM: 'true' }).hosts)).toEqual(['openai', 'sim']);
    expect(names(load({ hosted: true }, key, { argvFlags: { sim: true } }).hosts)).toEqual(['openai', 'sim']);
  });

  test('is offered beside real hosts in local mode', () => {
    expect(names(load({}, key).hosts)).toEqual(['openai', 'sim']);
  });
});

describe('the default model', () => {
  test('must be served by a host that can be called, and the remedy is named', () => {
    expect(problems({ default_model: 'gpt-5' })).toBe(
      'tollgate.config.json: default_model: no configured host serves gpt-5; set OPENAI_API_KEY or OPENROUTER_API_KEY',
    );
    expect(load({ default_model: 'openai/gpt-5' }, { OPENAI_API_KEY: 'k' }).defaultModel).toBe('openai/gpt-5');
    expect(problems({ default_model: 'sim-gpt', simulated_host: false })).toContain('no configured host serves');
    expect(problems({ default_model: 'gpt-5' }, {}, { secrets: 'leave' })).toBe('');
  });

  test('may be a model of an own host, if it has a price or is free', () => {
    const hosts = [{ name: 'own', base_url: 'https://own.example/v1', models: ['m'] }];
    expect(problems({ hosts, default_model: 'm' })).toContain('default_model: m has no price');
    expect(problems({ hosts, default_model: 'm', prices: { m: { input: 1, output: 1 } } })).toBe('');
    const near = [{ name: 'ollama', models: ['llama:3b'] }];
    expect(problems({ hosts: near, default_model: 'llama:3b' })).toBe('');
  });

  test('is looked for by its whole name and its last part, as callers’ names are', () => {
    expect(load({ default_model: 'vendor/sim-gpt' }).defaultModel).toBe('vendor/sim-gpt');
    expect(problems({ default_model: 'vendor/sim-gtp' })).toContain('no model has this name');
  });
});
