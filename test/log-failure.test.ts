import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';
import { until } from './until.ts';

/** A log that cannot be written must not freeze or end the gateway. Real processes, with real descriptors that fail. */

const SCRIPT = '/usr/bin/script';

let folder: string;
let child: ChildProcess | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
  child = null;
});

afterEach(async () => {
  if (child !== null && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

function environment(): NodeJS.ProcessEnv {
  return processEnvironment(folder, { TOLLGATE_LOCAL_HOSTS: 'false' });
}

const ARGS = ['serve', '--port', '0', '--data', 'data'];

async function urlIn(text: () => string): Promise<string> {
  await until(() => /http:\/\/127\.0\.0\.1:\d+/.test(text()), 'it says its address');
  return /http:\/\/127\.0\.0\.1:\d+/.exec(text())![0];
}

function call(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

test('a log on a full device loses lines, counts them, and the gateway serves on until SIGTERM', async () => {
  child = spawn(process.execPath, [BIN, ...ARGS], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const url = await urlIn(() => said);
  expect((await call(url)).status).toBe(200);
  const dropped = async (): Promise<number> => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/^tollgate_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
  };
  await until(async () => (await dropped()) > 0, 'lines are counted as dropped');
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect((await call(url)).status).toBe(200);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

describe.skipIf(!existsSync(SCRIPT))('on a terminal', () => {
  test('that is gone while it starts, the gateway ends', async () => {
    const config = join(folder, 'pipe');
    execFileSync('mkfifo', [config]);
    const command = `exec ${process.execPath} ${BIN} ${ARGS.join(' ')} --config pipe`;
    child = spawn(SCRIPT, ['-qfc', command, join(folder, 'screen')], {
      cwd: folder,
      env: environment(),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Opening a pipe waits for the other side, so it is open when the gateway reads its config.
    const pipe = await open(config, 'w');
    const pid = gatewayPid(child.pid!);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await pipe.writeFile('{}').catch(() => undefined);
    await pipe.close();
    // How far it comes before it hears the signal is up to the system.
    await until(() => !isAlive(pid), 'the gateway ended');
  });

  test('that is gone, the gateway drains and ends, and its folder is free again', async () => {
    const output = join(folder, 'screen');
    const command = `exec ${process.execPath} ${BIN} ${ARGS.join(' ')}`;
    child = spawn(SCRIPT, ['-qfc', command, output], {
      cwd: folder,
      env: environment(),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const screen = (): string => (existsSync(output) ? readFileSync(output, 'utf8') : '');
    const url = await urlIn(screen);
    expect((await call(url)).status).toBe(200);
    const pid = gatewayPid(child.pid!);
    child.kill('SIGKILL');
    await until(() => !isAlive(pid), 'the gateway ended');
    expect(JSON.parse(tollgate('ledger', 'verify', '--data', 'data', '--json'))).toMatchObject({ ok: true });
  });
});

function tollgate(...args: string[]): string {
  return execFileSync(process.execPath, [BIN, ...args], { cwd: folder, env: environment(), encoding: 'utf8' });
}

function gatewayPid(scriptPid: number): number {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(scriptPid)], { encoding: 'utf8' });
  return Number(children.trim().split(/\s+/)[0]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
