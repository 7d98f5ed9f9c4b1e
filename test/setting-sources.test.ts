import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Config, configJsonSchema, loadConfig, SETTINGS } from '../src/config/config.ts';
import { pathOfFlag, pathsIn } from '../src/config/setting-sources.ts';
import { type LiveParts, liveServices } from '../src/main/live-services.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-sources-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function live(config: Config) {
  return liveServices({ config, inForce: { config } } as LiveParts);
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Every setting of the config file, like `listen.port`. */
function pathsOfSchema({ properties }: Schema, prefix = ''): string[] {
  if (properties === undefined) return [prefix];
  return Object.entries(properties).flatMap(([name, member]) =>
    pathsOfSchema(member, prefix === '' ? name : `${prefix}.${name}`),
  );
}

test('the system shows which flag, variable or file a setting comes from', () => {
  const file = { log_level: 'warn', listen: { port: 1, host: '127.0.0.1' }, alerts: { disk_free_mb: 900 } };
  writeFileSync(join(cwd, 'tollgate.config.json'), JSON.stringify(file));
  const env = { HOME: cwd, TOLLGATE_LOG_LEVEL: 'error', TOLLGATE_CONSOLE_PORT: '2' };
  const { settingSources } = live(loadConfig({ argvFlags: { port: '3' }, env, cwd }));
  expect(settingSources()).toEqual({
    'listen.port': '--port',
    'listen.host': 'config file',
    'listen.console_port': 'TOLLGATE_CONSOLE_PORT',
    log_level: 'TOLLGATE_LOG_LEVEL',
    'alerts.disk_free_bytes': 'config file',
  });
});

test('after a reload the system shows the default model that is in force, and the rest as it was at the start', () => {
  const load = (file: object): Config => {
    writeFileSync(join(cwd, 'tollgate.config.json'), JSON.stringify(file));
    return loadConfig({ argvFlags: {}, env: { HOME: cwd }, cwd });
  };
  const [started, reloaded] = [load({ log_level: 'warn' }), load({ default_model: 'sim-gpt', frame_memory: false })];
  const inForce = { config: started };
  const { settings, settingSources } = liveServices({ config: started, inForce } as LiveParts);
  inForce.config = reloaded;
  expect(settings()).toMatchObject({ default_model: 'sim-gpt', log_level: 'warn', frame_memory: true });
  expect(settingSources()).toEqual({ default_model: 'config file', log_level: 'config file' });
  inForce.config = started;
  expect([settings().default_model, settingSources()]).toEqual([null, { log_level: 'config file' }]);
});

test('every shown setting, and every flag, is known by its name in the config file', () => {
  const inFile = pathsOfSchema(configJsonSchema() as Schema);
  expect(SETTINGS.map(({ flag }) => pathOfFlag(flag)).filter((path) => !inFile.includes(path))).toEqual([]);
  const config = loadConfig({ argvFlags: {}, env: { HOME: cwd }, cwd });
  const { settings, settingSources } = live({
    ...config,
    settingSources: new Map(inFile.map((path) => [path, 'config file'])),
  });
  const known = Object.keys(settingSources());
  expect(pathsIn(settings()).filter((path) => !known.includes(path))).toEqual([]);
});
