import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Config, loadConfig } from '../config/config.ts';
import { MasterKeyring } from '../custody/keyring.ts';
import type { MasterKeys } from '../custody/seal.ts';
import type { Sender } from '../egress/sender.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { HostsHealth } from '../hosts/hosts-health.ts';
import { HOST_ROWS } from '../hosts/rows.ts';
import { ManualClock } from '../kit/clock.ts';
import type { Store } from '../store/store.ts';
import { type OtherWorkers, reload } from './reload.ts';
import type { SettingsInForce } from './settings-in-force.ts';

let folder: string;
let config: Config;
let keyring: MasterKeyring;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-reload-'));
  config = loadConfig({ argvFlags: { data: folder }, env: {}, cwd: folder });
  keyring = new MasterKeyring(config.masterKey);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The names of the hosts whose connections the last reload kept. */
let kept: string[] | null = null;

function reloadWith(others: OtherWorkers, hosts: readonly ConfiguredHost[]): Promise<void> {
  const store = { registerPrices: async () => 1 } as unknown as Store;
  const health = new HostsHealth(config.health, new ManualClock(), () => undefined);
  const egress = {
    senderFor: () => ({}) as Sender,
    keepOnly: (used: readonly Pick<ConfiguredHost, 'row'>[]) => {
      kept = used.map(({ row }) => row.name);
    },
  };
  return reload({ store, keyring, inForce: {} as SettingsInForce, egress, health }, others, { config, hosts });
}

test('a master key that is added while a reload is being prepared stays in use in every worker', async () => {
  let usedByOthers: MasterKeys | null = null;
  const others = {
    prepareReload: async () => keyring.addKey(),
    finishReload: async (keys: MasterKeys) => {
      usedByOthers = keys;
    },
  };
  await reloadWith(others, []);
  expect(keyring.sealer.keyIds).toHaveLength(2);
  expect(usedByOthers).toEqual(keyring.sealer.keys);
});

test('calls go on while a command prints the master keys for a reload', async () => {
  const [key, sign] = [randomBytes(32).toString('base64'), join(folder, 'sign')];
  const command = `until [ -e '${sign}' ]; do :; done; printf '%s' '${key}'`;
  config = { ...config, masterKey: { kind: 'command', command, source: 'TOLLGATE_MASTER_KEY_COMMAND' } };
  let reading = Promise.resolve();
  const prepareReload = async () => {
    // The command has begun by then, and would never end if this process waited for it.
    reading = new Promise((resolve) => setImmediate(() => resolve(writeFileSync(sign, ''))));
  };
  await reloadWith({ prepareReload, finishReload: async () => undefined }, []);
  await reading;
  expect(keyring.source).toBe('TOLLGATE_MASTER_KEY_COMMAND');
});

test('a reload keeps connections only to the hosts that it brings', async () => {
  const row = HOST_ROWS.find(({ baseUrl }) => baseUrl !== '')!;
  const host = { row, key: null, keySource: null, local: false, models: [] };
  await reloadWith({ prepareReload: async () => undefined, finishReload: async () => undefined }, [host]);
  expect(kept).toEqual([row.name]);
});
