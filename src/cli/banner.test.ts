import { expect, test } from 'vitest';
import { buildCatalog, type Catalog } from '../catalog/catalog.ts';
import { loadCatalogFile, loadSimulatedFile } from '../catalog/load.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { banner } from './banner.ts';

const KEY = 'sk-hunter2';

function facts(env: Record<string, string>, flags: Record<string, string | boolean> = {}) {
  const config = loadConfig({ argvFlags: { data: '/srv/books', ...flags }, env, cwd: '/' });
  return {
    config,
    program: 'tollgate',
    catalog: catalogOf(config),
    url: 'http://127.0.0.1:8080',
    operationsUrl: null,
    consoleLink: null,
  };
}

function catalogOf(config: Config): Catalog {
  const file = loadCatalogFile();
  const rows = [...file.models, ...loadSimulatedFile().models];
  return buildCatalog({ rows, hosts: new Set(config.hosts.map(({ row }) => row.name)), version: file.version });
}

/** The model the printed call asks for. */
function calledModel(text: string): string {
  return JSON.parse(/-d '(.*)'/.exec(text)?.[1] ?? '{}').model;
}

test('without a provider key it offers a simulated model and says which variables would bring real ones', () => {
  expect(banner(facts({}))).toBe(`Tollgate is listening on http://127.0.0.1:8080 (local: no key needed on this machine)

data         /srv/books
config file  none
hosts        none; set OPENAI_API_KEY, ANTHROPIC_API_KEY or another variable listed in docs/providers.md to call real models
models       6 priced, all simulated

Try it (simulated: no real model is called):

  curl -i http://127.0.0.1:8080/v1/chat/completions -H 'content-type: application/json' -d '{"model":"sim-gpt-mini","messages":[{"role":"user","content":"Hello"}]}'
`);
});

test('an address that a shell would take for a pattern is quoted in the command', () => {
  expect(banner({ ...facts({}), url: 'http://[::1]:8080' })).toContain(
    `curl -i 'http://[::1]:8080/v1/chat/completions' -H`,
  );
});

test('with a provider key it names the variable, counts, and calls a real model that is served', () => {
  const given = facts({ OPENAI_API_KEY: KEY });
  const text = banner(given);
  expect(text).toMatch(/hosts {8}openai \(OPENAI_API_KEY; \d+ models\)\n/);
  expect(text).toMatch(/models {7}\d+ priced, 6 of them simulated/);
  expect(text).not.toContain(KEY);
  const model = given.catalog.find(calledModel(text));
  expect(model?.hosts.map(({ host }) => host)).toEqual(['openai']);
  expect(model?.caps.has('chat')).toBe(true);
});

test('a host found on this machine is named with its address and what it serves; one that serves nothing is named as such', () => {
  const given = facts({ AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_ENDPOINT: 'https://r.example', OLLAMA_HOST: 'gpu' });
  const row = {
    id: 'llama',
    context_window: 10,
    hosts: [{ host: 'ollama', model: 'llama' }],
    price: { input: 0, output: 0 },
  };
  const hosts = new Set(given.config.hosts.map(({ row: { name } }) => name));
  const text = banner({ ...given, catalog: buildCatalog({ rows: [row], hosts, version: '2026-11-15-x' }) });
  expect(text).toContain('azure (AZURE_OPENAI_API_KEY; serves no model: list its models under "hosts")');
  expect(text).toContain('ollama (http://gpu:11434/v1; 1 model)');
  const mute = banner({ ...given, catalog: buildCatalog({ rows: [], hosts, version: '2026-11-15-x' }) });
  expect(mute).toContain('ollama (http://gpu:11434/v1; did not list its models; is it running?)');
});

test('the operator’s default model is the one to try, if it is served', () => {
  const given = facts({});
  const choosing = (defaultModel: string) => banner({ ...given, config: { ...given.config, defaultModel } });
  expect(calledModel(choosing('sim-gpt'))).toBe('sim-gpt');
  expect(calledModel(choosing('nonsense'))).toBe('sim-gpt-mini');
});

test('in hosted mode it shows how to mint a key and calls with it', () => {
  const given = facts({}, { hosted: true, data: "/srv/ada's books" });
  const program = 'npm run -s tollgate --';
  const text = banner({
    ...given,
    program,
    operationsUrl: 'http://127.0.0.1:9464',
    consoleLink: 'https://gateway.example/console',
  });
  expect(text).toContain('(hosted: every call needs a key)');
  expect(text).toContain(`KEY=$(npm run -s tollgate -- keys mint --account ada --data '/srv/ada'\\''s books')`);
  expect(text).toContain('-H "authorization: Bearer $KEY"');
  expect(text).toContain('health, metrics  http://127.0.0.1:9464\n');
  expect(text).toContain('console          https://gateway.example/console\n');
});

test('with a ledger in PostgreSQL its commands name no folder, and say which URL they need without showing it', () => {
  const store = 'postgres://ada:hunter2@db.example/books';
  const text = banner(facts({ TOLLGATE_STORE: store }, { hosted: true }));
  expect(text).not.toContain('--data');
  expect(text).not.toContain('hunter2');
  expect(text).toContain(', in a shell where TOLLGATE_STORE is set to PostgreSQL db.example/books:');
  expect(text).toMatch(/ accounts credit ada 5\n/);
  expect(banner(facts({ TOLLGATE_STORE: store }))).not.toContain('in a shell');
});

test('without any model it says what to do instead of a call that would fail', () => {
  const text = banner(facts({}, { sim: false }));
  expect(text).toContain('No model is served');
  expect(text).not.toContain('curl');
});

test('models that are listed without a price are named, and their host is not said to list none', () => {
  const given = facts({ AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_ENDPOINT: 'https://r.example' });
  const hosts = given.config.hosts.map((host) => ({
    ...host,
    models: [{ id: 'ours', model: 'ours', contextWindow: null, maxOutputTokens: null }],
  }));
  const row = { id: 'ours', context_window: 10, hosts: [{ host: 'azure', model: 'ours' }] };
  const catalog = buildCatalog({ rows: [row], hosts: new Set(['azure']), version: '2026-11-15-x' });
  const text = banner({ ...given, config: { ...given.config, hosts }, catalog });
  expect(text).toContain('serves no model: the listed ones have no price)');
  expect(text).toMatch(/not served +ours: set a price for each under "prices"\n/);
});
