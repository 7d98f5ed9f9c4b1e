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

test('a thread sees nothing of the environment but where compiled sources are kept', async () => {
  const tell = `require('node:worker_threads').parentPort.postMessage(Object.keys(process.env))`;
  writeFileSync(join(folder, 'tell.js'), tell);
  vi.stubEnv('TOLLGATE_TEST_SECRET', 'secret');
  const thread = startThread(pathToFileURL(join(folder, 'beside.js')).href, 'tell');
  // Together, because a thread that ends at once may do so before its message was looked at.
  const [[names]] = await Promise.all([once(thread, 'message'), once(thread, 'exit')]);
  expect(names).toEqual(getCompileCacheDir() === undefined ? [] : ['NODE_COMPILE_CACHE']);
});

describe('the calls out of WebAssembly, which V8 frees while other threads use them,', () => {
  const SOURCES = new URL('../store/sqlite/beside.ts', import.meta.url).href;
  const MANY_FILES = 'writer-verbs';

  /** Runs a program that starts a thread from sources, and counts what V8 says that it compiled of such calls. */
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

  test('are compiled in others; where no longer, the precaution may go', async () => {
    const entry = new URL(`${MANY_FILES}.ts`, SOURCES).href;
    const program = `import { Worker } from 'node:worker_threads'; new Worker(new URL('${entry}'));`;
    expect(await compiledBy(program)).toBeGreaterThan(0);
  });
});
