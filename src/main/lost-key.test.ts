import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../cli/run.ts';
import { type Environment, loadConfig } from '../config/config.ts';
import { MasterKeyError } from '../custody/master-keys.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { compose } from './compose.ts';
import { warnAfterReload } from './reload-warnings.ts';
import { type Running, startGateway } from './start.ts';

let folder: string;
let running: Running | null;
let keyFile: string;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-lost-key-'));
  keyFile = join(folder, 'data', 'master.key');
  running = null;
});
afterEach(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const flags = (data = 'data') => ({ data: join(folder, data), port: '0', sim: false, localHosts: false });
const config = (env: Environment = {}, data?: string) =>
  loadConfig({ argvFlags: flags(data), env: { HOME: folder, ...env }, cwd: folder });

async function start(env: Environment = {}, data?: string): Promise<Running> {
  logged = [];
  running = await startGateway({
    config: config(env, data),
    hosts: [],
    clock: systemClock,
    log: createLog({ level: 'error', destination: { write: (line) => logged.push(line) } }),
    onFatal: (error) => {
      throw error;
    },
  });
  return running;
}

async function stop(): Promise<void> {
  await running?.stop();
  running = null;
}

async function command(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const terminal = {
    writeOut: (text: string) => {
      said.out += text;
    },
    writeErr: (text: string) => {
      said.err += text;
    },
    isLive: false,
  };
  const composition = compose({ program: 'tollgate', terminal, cwd: folder, clock: systemClock });
  const code = await runCli([...args, '--data', join(folder, 'data')], { HOME: folder }, composition);
  return { code, ...said };
}

function masterKeyFinding(): Promise<unknown> {
  return finding('master key');
}

async function finding(name: string): Promise<unknown> {
  const { out } = await command('doctor', '--offline', '--json', '--port', '0', '--no-sim', '--no-local-hosts');
  const { checks } = JSON.parse(out) as { checks: { check: string }[] };
  return checks.find(({ check }) => check === name);
}

test('a reload that replaces the master key instead of adding one says that stored secrets cannot be decrypted', async () => {
  const [old, other] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const keys = (...all: string[]) => config({ TOLLGATE_MASTER_KEY: all.join(' ') });
  const gateway = await start({ TOLLGATE_MASTER_KEY: old });
  const log = createLog({ level: 'warn', destination: { write: (line) => void logged.push(line) } });
  logged = [];
  await gateway.reload(keys(other, old), []);
  await warnAfterReload(gateway, log);
  expect(logged).toEqual([]);
  await gateway.reload(keys(other), []);
  await warnAfterReload(gateway, log);
  expect(logged).toEqual([expect.stringContaining('"secrets":1,"msg":"Some stored secrets cannot be decrypted')]);
});

describe('a key file that is gone, while the ledger holds secrets that it encrypts', () => {
  test('is not made again by a start: the start is refused with the remedy, until it is back', async () => {
    await start();
    await stop();
    const kept = readFileSync(keyFile, 'utf8');
    renameSync(keyFile, `${keyFile}.away`);
    await expect(start()).rejects.toThrow(MasterKeyError);
    await expect(start()).rejects.toThrow(`${keyFile} is missing, and the ledger holds secrets`);
    expect(existsSync(keyFile)).toBe(false);
    renameSync(`${keyFile}.away`, keyFile);
    await start();
    expect(readFileSync(keyFile, 'utf8')).toBe(kept);
  });

  test('is not made again by a command', async () => {
    await start();
    await stop();
    rmSync(keyFile);
    for (const args of [
      ['seal', 'status'],
      ['seal', 'rotate', '--new-key'],
      ['receipts', 'rotate-key', '--now'],
      ['webhooks', 'add', 'hook', 'https://hook.example/'],
    ]) {
      const { code, err } = await command(...args);
      expect([code, err]).toEqual([1, expect.stringContaining(`${keyFile} is missing`)]);
    }
    expect(existsSync(keyFile)).toBe(false);
  });

  test('is reported by doctor', async () => {
    await start();
    await stop();
    expect(await masterKeyFinding()).toMatchObject({ status: 'ok', detail: keyFile });
    rmSync(keyFile);
    expect(await masterKeyFinding()).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('Put it back from a copy.'),
    });
    expect(existsSync(keyFile)).toBe(false);
  });

  test('is not missed by doctor if the running gateway has its keys from elsewhere, like one in hosted mode', async () => {
    const given = join(folder, 'given.key');
    writeFileSync(given, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
    await start({ TOLLGATE_MASTER_KEY_FILE: given });
    expect(await masterKeyFinding()).toEqual({
      check: 'master key',
      status: 'ok',
      detail: 'TOLLGATE_MASTER_KEY_FILE, as the running gateway has it',
      remedy: null,
    });
    await stop();
    expect(await masterKeyFinding()).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('set TOLLGATE_MASTER_KEY, TOLLGATE_MASTER_KEY_FILE or'),
    });
  });

  test('is reported by doctor although the running gateway has its data folder under another name', async () => {
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    symlinkSync('data', join(folder, 'link'));
    await start({}, 'link');
    rmSync(keyFile);
    expect(await masterKeyFinding()).toMatchObject({
      status: 'failure',
      detail: `${keyFile} is missing; the running gateway still has its keys`,
    });
  });

  test('is written again by the running gateway, with the same keys, at a reload and at a rotation', async () => {
    const { reload } = await start();
    const kept = readFileSync(keyFile, 'utf8');
    rmSync(keyFile);
    expect(await masterKeyFinding()).toMatchObject({
      status: 'failure',
      remedy: expect.stringContaining('tollgate seal rotate'),
    });
    await reload(config(), []);
    expect(readFileSync(keyFile, 'utf8')).toBe(kept);
    rmSync(keyFile);
    expect((await command('seal', 'rotate')).code).toBe(0);
    expect(readFileSync(keyFile, 'utf8')).toBe(kept);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    rmSync(keyFile);
    expect((await command('seal', 'rotate', '--new-key')).code).toBe(0);
    expect(readFileSync(keyFile, 'utf8')).toContain(kept.match(/^[^#\s]+$/m)![0]);
  });

  test('is not made in another data folder by a reload, because that folder needs a restart', async () => {
    const { reload } = await start();
    const before = (await command('seal', 'status')).out;
    const elsewhere = join(folder, 'elsewhere');
    await reload(loadConfig({ argvFlags: { ...flags(), data: elsewhere }, env: { HOME: folder }, cwd: folder }), []);
    expect([(await command('seal', 'status')).out, existsSync(elsewhere)]).toEqual([before, false]);
  });

  test('is not made by a reload that no longer names the file with the keys in use', async () => {
    const given = join(folder, 'given.key');
    writeFileSync(given, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
    const { reload } = await start({ TOLLGATE_MASTER_KEY_FILE: given });
    const before = (await command('seal', 'status')).out;
    await expect(reload(config(), [])).rejects.toThrow(`${keyFile} is missing, and the ledger holds secrets`);
    expect([(await command('seal', 'status')).out, existsSync(keyFile)]).toEqual([before, false]);
  });
});

test('a key file that is missing because nothing is encrypted yet is made by the first start, not by doctor', async () => {
  expect((await command('accounts', 'create', 'acme')).code).toBe(0);
  expect(await masterKeyFinding()).toMatchObject({ status: 'ok', detail: expect.stringContaining('the first start') });
  expect((await command('seal', 'status')).err).toContain('does not exist yet; the first start makes it');
  expect(existsSync(keyFile)).toBe(false);
  await start();
  expect(existsSync(keyFile)).toBe(true);
});

test('a start with other master keys than the ledger needs says that no receipt can be signed, until they are added', async () => {
  await start();
  await stop();
  const given = randomBytes(32).toString('base64');
  await start({ TOLLGATE_MASTER_KEY: given });
  expect(logged).toEqual([expect.stringContaining('No receipt can be signed. The key that signs receipts cannot be')]);
  await stop();
  await start({ TOLLGATE_MASTER_KEY: `${given} ${readFileSync(keyFile, 'utf8')}` });
  expect(logged).toEqual([]);
});

describe('a key file with another key than the one that encrypted the secrets in the ledger', () => {
  const other = (): void => writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });

  test('is a failure that doctor reports with the remedy', async () => {
    await start();
    await stop();
    expect(await finding('stored secrets')).toMatchObject({ status: 'ok', detail: '1, all can be decrypted' });
    const right = readFileSync(keyFile, 'utf8');
    other();
    expect(await finding('stored secrets')).toEqual({
      check: 'stored secrets',
      status: 'failure',
      detail: `1 of 1 cannot be decrypted with the master keys from ${keyFile}`,
      remedy: expect.stringContaining('add the master key that encrypted them, after the others'),
    });
    writeFileSync(keyFile, `${readFileSync(keyFile, 'utf8')}${right}`);
    expect(await finding('stored secrets')).toMatchObject({ status: 'ok' });
  });

  test('is reported while the running gateway still has the right one', async () => {
    await start();
    expect(await finding('stored secrets')).toMatchObject({ status: 'ok' });
    other();
    expect(await finding('stored secrets')).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('need a master key that is no longer in'),
      remedy: 'put the file back from a copy before the gateway stops',
    });
  });
});
