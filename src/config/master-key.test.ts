import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Config, ConfigError, loadConfig } from './config.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function load(env: Record<string, string>, fields: object = {}, flags: Record<string, boolean> = {}): Config {
  writeFileSync(join(cwd, 'tollgate.config.json'), JSON.stringify({ local_hosts: false, ...fields }));
  return loadConfig({ argvFlags: flags, env: { HOME: '/home/ada', ...env }, cwd });
}

const KEY = randomBytes(32).toString('base64');

describe('the master key comes', () => {
  test('from a file of our own in the data folder, in local mode', () => {
    const path = '/home/ada/.local/share/tollgate/master.key';
    expect(load({}).masterKey).toEqual({ kind: 'own-file', path, source: path });
    expect(load({ TOLLGATE_MASTER_KEY: '' }).masterKey.kind).toBe('own-file');
  });

  test('from nowhere by itself, in hosted mode', () => {
    const { masterKey } = load({}, {}, { hosted: true });
    expect(masterKey).toMatchObject({ kind: 'none', source: expect.stringContaining('TOLLGATE_MASTER_KEY_FILE') });
  });

  test('from a variable, which no dump of the settings shows', () => {
    const config = load({ TOLLGATE_MASTER_KEY: KEY }, {}, { hosted: true });
    expect(config.masterKey).toMatchObject({ kind: 'text', source: 'TOLLGATE_MASTER_KEY' });
    expect(inspect(config, { depth: null })).not.toContain(KEY);
    expect(JSON.stringify({ ...config, prices: null })).not.toContain(KEY);
  });

  test('from a file or a command, named by a variable or in the config file, which gives paths from its own folder', () => {
    expect(load({ TOLLGATE_MASTER_KEY_FILE: 'keys' }).masterKey).toMatchObject({
      kind: 'file',
      path: join(cwd, 'keys'),
    });
    expect(load({ TOLLGATE_MASTER_KEY_COMMAND: 'vault x' }).masterKey).toMatchObject({ command: 'vault x' });
    expect(load({}, { master_key_file: '../keys' }).masterKey).toEqual({
      kind: 'file',
      path: join(cwd, '..', 'keys'),
      source: 'master_key_file',
    });
    expect(load({}, { master_key_command: 'pass x' }).masterKey).toMatchObject({ kind: 'command', command: 'pass x' });
  });

  test('from variables before the config file, and from one place only', () => {
    const both = { master_key_file: 'keys', master_key_command: 'pass x' };
    expect(load({ TOLLGATE_MASTER_KEY: KEY }, both).masterKey.kind).toBe('text');
    expect(() => load({}, both)).toThrow(ConfigError);
    expect(() => load({ TOLLGATE_MASTER_KEY: KEY, TOLLGATE_MASTER_KEY_FILE: 'keys' })).toThrow('are both set');
  });

  test('never from the config file itself', () => {
    expect(() => load({}, { master_key: KEY })).toThrow('not a known field');
  });
});
