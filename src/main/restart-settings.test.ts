import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Config, configJsonSchema, loadConfig } from '../config/config.ts';
import { changesForRestart } from './restart-settings.ts';

const cwd = mkdtempSync(join(tmpdir(), 'tollgate-restart-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const STORE = 'postgres://tollgate:hunter2@db.example/tollgate';

function load(file: object): Config {
  writeFileSync(join(cwd, 'tollgate.config.json'), JSON.stringify(file));
  return loadConfig({ argvFlags: {}, env: { HOME: cwd, TOLLGATE_MASTER_KEY: 'x'.repeat(44) }, cwd });
}

test('a reload of the same config changes nothing that needs a restart', () => {
  const file = { hosted: true, public_url: 'https://gateway.example', store: STORE, limits: { idle_ms: 5 } };
  expect(changesForRestart(load(file), load(file))).toEqual([]);
});

test('hosts, models, prices and the default model need no restart', () => {
  const price = { input: 1, output: 1 };
  const file = {
    hosts: [{ name: 'own', base_url: 'https://own.example/v1', models: ['m'] }],
    prices: { m: price },
    default_model: 'm',
  };
  expect(changesForRestart(load({}), load(file))).toEqual([]);
});

test('the simulated host needs a restart if it was not offered at the start, and none to be left out', () => {
  const [without, offered] = [load({ simulated_host: false }), load({ simulated_host: true })];
  expect(changesForRestart(without, offered)).toEqual(['simulated_host']);
  expect(changesForRestart(offered, without)).toEqual([]);
});

test('another secret needs a restart too, where it is in a file of its own and where it is part of an address', () => {
  const sso = { issuer: 'https://id.example', client_id: 'tollgate', client_secret_file: 'sso-secret' };
  const withSecret = (secret: string, password: string): Config => {
    writeFileSync(join(cwd, 'sso-secret'), secret);
    const store = STORE.replace('hunter2', password);
    return load({ hosted: true, public_url: 'https://gateway.example', sso, store });
  };
  const started = withSecret('of yesterday', 'hunter2');
  expect(changesForRestart(started, withSecret('of yesterday', 'hunter2'))).toEqual([]);
  expect(changesForRestart(started, withSecret('of today', 'hunter2'))).toEqual(['sso']);
  expect(changesForRestart(started, withSecret('of yesterday', 'hunter3'))).toEqual(['store']);
});

test('everything else does, and is named as in the config file', () => {
  const changed = {
    ...{ hosted: true, console: false, transport: 'node', workers: 1, frame_memory: false, log_level: 'warn' },
    ...{ data: 'elsewhere', store: STORE, public_url: 'https://gateway.example', jobs: { enabled: false } },
    ...{ listen: { port: 1 }, limits: { idle_ms: 5 }, rate_limit: { calls: 1 }, load_limits: { calls: 1 } },
    ...{ health: { retry_percent: 1 }, retention: { receipts_days: 400 }, alerts: { cap_percent: 1 } },
    ...{ metrics: { per_key: true }, trusted_proxies: ['10.0.0.0/8'], allowed_hosts: ['a.example'] },
    origins: ['https://a.example'],
  };
  const named = changesForRestart(load({}), load(changed));
  expect(named.toSorted()).toEqual(Object.keys(changed).toSorted());
  const fields = Object.keys((configJsonSchema() as { properties: object }).properties);
  expect(fields).toEqual(expect.arrayContaining(named));
});
