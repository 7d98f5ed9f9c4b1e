import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startThread } from '../src/kit/start-thread.ts';
import { END } from '../src/store/sqlite/serve-ports.ts';
import { KeptThread, KeptThreads } from './kept-threads.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { KEPT_THREAD } from './thread-files.ts';

let folder: string;
let starts: number;
let threads: KeptThreads;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-kept-'));
  await copyEmptyLedger(folder);
  starts = 0;
  threads = new KeptThreads(() => {
    starts += 1;
    return startThread(import.meta.url, KEPT_THREAD);
  });
});
afterEach(async () => {
  await threads.end();
  rmSync(folder, { recursive: true });
});

async function scan(): Promise<void> {
  const thread = new KeptThread(threads, 'scanner', folder);
  const received: unknown[] = [];
  thread.on('message', (message) => void received.push(message));
  const exited = once(thread, 'exit');
  thread.postMessage({ verb: 'listAccounts', args: [{ limit: 1, after: null }] });
  thread.postMessage({ verb: END, args: [] });
  expect(await exited).toEqual([0]);
  expect(received).toEqual([{ result: [] }]);
}

test('a thread whose store was closed does the work of the next one', async () => {
  await scan();
  await scan();
  expect(starts).toBe(1);
});

test('a thread that failed or was terminated is not used again', async () => {
  const failed = new KeptThread(threads, 'scanner', join(folder, 'missing'));
  const exited = once(failed, 'exit').catch(() => undefined);
  await expect(new Promise((_, reject) => failed.once('error', reject))).rejects.toThrow('unable to open');
  await exited;
  await scan();
  expect(starts).toBe(2);

  const terminated = new KeptThread(threads, 'scanner', folder);
  await terminated.terminate();
  await scan();
  expect(starts).toBe(3);
});

test('a thread that has ended cannot be terminated under its next owner', async () => {
  const first = new KeptThread(threads, 'scanner', folder);
  const exited = once(first, 'exit');
  first.postMessage({ verb: END, args: [] });
  await exited;
  const second = new KeptThread(threads, 'scanner', folder);
  await first.terminate();
  const ended = once(second, 'exit');
  second.postMessage({ verb: END, args: [] });
  expect(await ended).toEqual([0]);
  expect(starts).toBe(1);
});
