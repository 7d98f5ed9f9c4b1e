import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConfigSources, loadConfig } from './config.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-models-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function load(file: object, secrets: ConfigSources['secrets']) {
  writeFileSync(join(cwd, 'tollgate.config.json'), JSON.stringify(file));
  return loadConfig({ argvFlags: {}, env: { HOME: cwd }, cwd, secrets: secrets! });
}

const OWN = { id: 'own', context_window: 8_000, hosts: [{ host: 'far', model: 'own' }] };
const FAR = { name: 'far', base_url: 'http://far.example/v1', models: ['served'] };

test.each([
  ['the id of a model of the catalog', 'sim-gpt'],
  ['the id of a model that a host lists', 'served'],
  ['its own id', 'own'],
])('an alias that is %s is refused by its field', (_, alias) => {
  const file = { hosts: [FAR], models: [{ ...OWN, aliases: ['fine', alias] }] };
  expect(() => load(file, 'read')).toThrow(`models[0].aliases[1]: ${alias} is already the id of a model`);
});

test.each<[string, object]>([
  ['an alias that a newer catalog has as an id', { hosts: [FAR], models: [{ ...OWN, aliases: ['sim-gpt'] }] }],
  ['a price of a model that a newer catalog no longer has', { prices: { gone: { input: 1, output: 1 } } }],
  ['a default that it no longer has', { default_model: 'gone' }],
])('commands that make no calls run with %s, so that another catalog can be put in force', (_, file) => {
  expect(() => load(file, 'read')).toThrow(join(cwd, 'tollgate.config.json'));
  expect(load(file, 'leave').dataFolder).toContain(cwd);
});
