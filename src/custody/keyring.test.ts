import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../test/until.ts';
import { MasterKeyring } from './keyring.ts';
import { type MasterKeySource, readMasterKeys } from './master-keys.ts';

const SOURCE = 'TOLLGATE_MASTER_KEY_COMMAND';

let folder: string;
let first: string;
let second: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-keyring-'));
  [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  writeFileSync(join(folder, 'keys'), first);
});
afterEach(() => rmSync(folder, { recursive: true }));

function fromCommand(command: string): MasterKeySource {
  return { kind: 'command', command, source: SOURCE };
}

/** Prints the keys in the file, but only once there is a sign; says when it begins. */
const WAITING = (): MasterKeySource =>
  fromCommand(`cd '${folder}'; keys=$(cat keys); : > begun; until [ -e sign ]; do :; done; printf '%s' "$keys"`);

function begun(): Promise<void> {
  return until(() => existsSync(join(folder, 'begun')), 'the command has begun');
}

function give(sign: string): void {
  writeFileSync(join(folder, sign), '');
}

describe('while a command prints the keys', () => {
  test('calls go on, and then all use what it has printed', async () => {
    const keyring = new MasterKeyring(WAITING(), readMasterKeys(fromCommand(`printf '%s' '${second}'`)));
    const [before] = keyring.sealer.keyIds;
    let told = 0;
    keyring.onKeys = () => told++;
    const reloaded = keyring.reload();
    await begun();
    expect(keyring.sealer.keyIds).toEqual([before]);
    give('sign');
    await reloaded;
    expect(keyring.sealer.keys).toEqual(readMasterKeys(fromCommand(`printf '%s' '${first}'`)));
    expect(told).toBe(1);
  });

  test('keys that an operator rotates are not put back', async () => {
    const keyring = new MasterKeyring(WAITING(), readMasterKeys(fromCommand(`printf '%s' '${first}'`)));
    const reloaded = keyring.reload();
    await begun();
    writeFileSync(join(folder, 'keys'), `${second} ${first}`);
    keyring.use(readMasterKeys(fromCommand(`printf '%s' '${second} ${first}'`)));
    give('sign');
    await reloaded;
    expect(keyring.sealer.keyIds).toHaveLength(2);
  });

  test('a source that a new config names stays', async () => {
    const keyring = new MasterKeyring(WAITING(), readMasterKeys(fromCommand(`printf '%s' '${first}'`)));
    const reloaded = keyring.reload();
    await begun();
    const named = { ...fromCommand(`printf '%s' '${second}'`), source: 'master_key.command' };
    keyring.use(readMasterKeys(named), named);
    give('sign');
    await reloaded;
    expect(keyring.source).toBe('master_key.command');
    expect(keyring.sealer.keys).toEqual(readMasterKeys(named));
  });

  test('that fails, the old ones stay in use', async () => {
    const keyring = new MasterKeyring(fromCommand('exit 3'), readMasterKeys(fromCommand(`printf '%s' '${first}'`)));
    const keys = keyring.sealer.keys;
    await expect(keyring.reload()).rejects.toThrow(`The command of ${SOURCE} ended with 3.`);
    expect(keyring.sealer.keys).toBe(keys);
  });
});
