import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startThread } from './start-thread.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-threads-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a thread sees nothing of the environment but where compiled sources are kept', async () => {
  writeFileSync(
    join(folder, 'tell.js'),
    `require('node:worker_threads').parentPort.postMessage(Object.keys(process.env))`,
  );
  process.env.TOLLGATE_TEST_SECRET = 'secret';
  const thread = startThread(`file://${folder}/beside.js`, 'tell');
  const [names] = await once(thread, 'message');
  await once(thread, 'exit');
  delete process.env.TOLLGATE_TEST_SECRET;
  expect(names).toEqual(['NODE_COMPILE_CACHE']);
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
