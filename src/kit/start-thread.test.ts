import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startThread } from './start-thread.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-threads-'));
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

test('a thread gets no environment variable except the folder of the compile cache', async () => {
  const tell = `require('node:worker_threads').parentPort.postMessage(Object.keys(process.env))`;
  writeFileSync(join(folder, 'tell.js'), tell);
  vi.stubEnv('TOLLGATE_TEST_SECRET', 'secret');
  const thread = startThread(pathToFileURL(join(folder, 'beside.js')).href, 'tell');
  // Wait for both: a thread that ends at once may end before its message is read.
  const [[names]] = await Promise.all([once(thread, 'message'), once(thread, 'exit')]);
  expect(names).toEqual(getCompileCacheDir() === undefined ? [] : ['NODE_COMPILE_CACHE']);
});

describe('wrappers for calls out of WebAssembly, which V8 may free while other threads use them,', () => {
  const SOURCES = new URL('../store/sqlite/beside.ts', import.meta.url).href;
  const MANY_FILES = 'writer-verbs';

  /** Runs a program that starts a thread from sources, and counts the wrappers that V8 reports as compiled. */
  async function compiledBy(program: string): Promise<number> {
    const log = join(folder, 'code.log');
    const file = join(folder, 'program.mjs');
    writeFileSync(file, program);
    const flags = ['--log-code', '--no-logfile-per-isolate', `--logfile=${log}`];
    const env = { PATH: process.env.PATH ?? '', NODE_DISABLE_COMPILE_CACHE: '1' };
    await promisify(execFile)(process.execPath, [...flags, file], { env });
    return readFileSync(log, 'utf8').split('wasm-to-js').length - 1;
  }

  test('are never compiled in our threads', async () => {
    const ours = new URL('start-thread.ts', import.meta.url).href;
    const program = `import { startThread } from '${ours}'; startThread('${SOURCES}', '${MANY_FILES}');`;
    expect(await compiledBy(program)).toBe(0);
  });

  test('are compiled in other threads; if not, the precaution can be removed', async () => {
    const entry = new URL(`${MANY_FILES}.ts`, SOURCES).href;
    const program = `import { Worker } from 'node:worker_threads'; new Worker(new URL('${entry}'));`;
    expect(await compiledBy(program)).toBeGreaterThan(0);
  });
});

/** With changed flags V8 would compile Node's own modules again, and Node keeps another cache. */
test('a thread starts with unchanged V8 flags once the sources are in the compile cache', async () => {
  const ours = new URL('start-thread.ts', import.meta.url).href;
  const beside = pathToFileURL(join(folder, 'beside.ts')).href;
  const tell = `import { getCompileCacheDir } from 'node:module'; console.log(getCompileCacheDir());`;
  writeFileSync(join(folder, 'tell-cache.ts'), tell);
  const file = join(folder, 'program.mjs');
  writeFileSync(file, `import { startThread } from '${ours}'; ${tell} startThread('${beside}', 'tell-cache');`);
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: join(folder, 'cache') };
  const cachesUsed = async (): Promise<string[]> =>
    (await promisify(execFile)(process.execPath, [file], { env })).stdout.trim().split('\n');
  const [first, second] = [await cachesUsed(), await cachesUsed()];
  expect(first).toHaveLength(2);
  expect(first[0]).not.toBe(first[1]);
  expect(second).toEqual([first[0], first[0]]);
});
