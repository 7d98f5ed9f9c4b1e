import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Config, loadConfig } from '../src/config/config.ts';
import { readMasterKeys } from '../src/custody/master-keys.ts';
import { systemClock } from '../src/kit/clock.ts';
import { type Books, openBooks } from '../src/main/books.ts';
import { packSecrets } from '../src/main/workers/pack-secrets.ts';
import { sharedMemoryFor } from '../src/main/workers/thread-state.ts';
import { WorkerFailed, WorkerThread } from '../src/main/workers/worker-thread.ts';

let folder: string;
let books: Books;
let config: Config;
let failures: Error[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-worker-'));
  config = loadConfig({ argvFlags: { data: folder }, env: {}, cwd: folder });
  failures = [];
  books = await openBooks({
    config,
    clock: systemClock,
    socketPath: null,
    onFatal: (error) => void failures.push(error),
  });
});
afterEach(async () => {
  await books.close();
  rmSync(folder, { recursive: true, force: true });
});

function startWorker(settings: object): WorkerThread {
  const memory = sharedMemoryFor(2);
  const masterKeys = readMasterKeys(config.masterKey);
  const shared = { worker: 1, workers: 2, memory, settings: packSecrets(settings), localAccountId: null, masterKeys };
  return new WorkerThread({
    terms: { ...shared, ticket: books.ticket() },
    clock: systemClock,
    onReport: () => undefined,
    onFailed: (error) => void failures.push(error),
  });
}

test('a worker that fails is a failure of the process, and so is one that cannot start', async () => {
  const unable = startWorker({ config: {}, hosts: [] });
  await expect(unable.started()).rejects.toThrow(WorkerFailed);
  expect(failures.map(({ message }) => message)).toEqual([expect.stringMatching(/^Worker 2 failed: /)]);

  const worker = startWorker({ config, hosts: [] });
  await worker.started();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await expect(worker.listen('127.0.0.1', port)).rejects.toThrow('EADDRINUSE');
  expect(failures).toHaveLength(2);
  taken.close();
});

test('a worker that is told to drain ends without a failure', async () => {
  const worker = startWorker({ config, hosts: [] });
  await worker.started();
  await worker.drain();
  expect([worker.isEnding, failures]).toEqual([true, []]);
  expect((await books.health()).ok).toBe(true);
});
