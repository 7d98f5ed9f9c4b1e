import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Config, loadConfig } from '../config/config.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { startGateway } from './start.ts';

let folder: string;
let taken: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-start-'));
  taken = await listen(0);
});
afterEach(async () => {
  await close(taken);
  rmSync(folder, { recursive: true, force: true });
});

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function freePort(): Promise<number> {
  const server = await listen(0);
  const port = portOf(server);
  await close(server);
  return port;
}

function start(listen: Config['listen']) {
  const env = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') };
  const config = loadConfig({ argvFlags: { hosted: true, data: folder, sim: false }, env, cwd: folder });
  return startGateway({
    // Nobody has to be told that this gateway will stop.
    config: { ...config, listen, limits: { ...config.limits, shutdownNoticeMs: 0 } },
    hosts: [],
    clock: systemClock,
    log: createLog({ level: 'silent', destination: { write: () => undefined } }),
    onFatal: (error) => {
      throw error;
    },
  });
}

test('health and metrics listen on the address that is set, and answer who calls them by it', async () => {
  const running = await start({
    host: '127.0.0.1',
    port: 0,
    operationsHost: '127.0.0.2',
    operationsPort: 0,
    consolePort: null,
  });
  try {
    expect(new URL(running.operationsUrl!).hostname).toBe('127.0.0.2');
    const answer = await fetch(`${running.operationsUrl}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('tollgate_')]);
  } finally {
    await running.stop();
  }
});

test('a gateway whose second port is taken gives up the first, and the data folder', async () => {
  const port = await freePort();
  await expect(
    start({ host: '127.0.0.1', port, operationsHost: '127.0.0.1', operationsPort: portOf(taken), consolePort: null }),
  ).rejects.toThrow('EADDRINUSE');
  await close(await listen(port));
  const lock = lockFolder(folder, { pid: 1, url: null, socketPath: null, startedMs: 0 });
  expect(lock).toHaveProperty('release');
  if ('release' in lock) lock.release();
});
