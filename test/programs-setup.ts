import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { builtName, PROGRAMS } from '../campaigns/programs.ts';
import { builtThread, KEPT_THREAD, THREADS } from './thread-files.ts';
import { pathsUnder, ROOT } from './tidy/paths.ts';

const FOLDER = join(ROOT, 'node_modules', '.cache', 'tollgate-programs');
const MARK = 'built-from';

/** The command and the simulator, as places in src/. */
const COMMANDS = ['main/main', 'sim/main'];

/** It is almost the whole gateway, of which a single file would be slower to load than parts that are loaded when needed. */
const LARGE_THREAD = 'main/call-worker';

/** Packages that load fast as they are, or that find files of their own by their place. */
const NOT_BUNDLED = /^(@opentelemetry\/|gpt-tokenizer|openid-client|pg$|prom-client$|undici$|vitest)/;

/** Builds the programs that tests start in processes of their own, unless nothing has changed since the last run. */
export default async function setup(): Promise<void> {
  const wanted = stateOfSources();
  const mark = join(FOLDER, MARK);
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) await build(wanted);
  process.env.TOLLGATE_TEST_PROGRAMS = FOLDER;
}

function stateOfSources(): string {
  const hash = createHash('sha256').update(`${ROOT} ${process.version}`);
  const sources = ['src', 'test', 'campaigns', 'bin'].flatMap(pathsUnder).filter((path) => /\.[jt]s$/.test(path));
  for (const path of [...sources, 'package.json']) hash.update(path).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

async function build(state: string): Promise<void> {
  const folder = `${FOLDER}.${process.pid}`;
  const programs = PROGRAMS.map((path) => [builtName(path), path]);
  const commands = COMMANDS.map((path) => [path, `src/${path}.ts`]);
  const threads = [
    ...THREADS.map((path) => [builtThread(path), `src/${path}.ts`]),
    [builtThread(KEPT_THREAD), `test/${KEPT_THREAD}.ts`],
  ];
  const isLarge = ([name]: string[]): boolean => name === LARGE_THREAD;
  await bundle([...commands, ...programs, ...threads.filter(isLarge)], folder);
  // One file each: a thread starts in a third less time than from the parts that it would share with the command.
  for (const thread of threads.filter((thread) => !isLarge(thread))) await bundle([thread], folder, true);
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  for (const name of ['data', 'public', 'package.json', 'dist/console'])
    symlinkSync(join(ROOT, name), join(folder, name));
  writeFileSync(join(folder, MARK), state);
  rmSync(FOLDER, { recursive: true, force: true });
  renameSync(folder, FOLDER);
}

async function bundle(entries: readonly string[][], folder: string, isOneFile = false): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: Object.fromEntries(entries),
    external: NOT_BUNDLED,
    logLevel: 'warn',
  });
  const names = { entryFileNames: '[name].js', chunkFileNames: 'main/part-[name].js' };
  const parts = isOneFile ? { codeSplitting: false } : {};
  await bundle.write({ dir: join(folder, 'dist'), format: 'esm', keepNames: true, ...names, ...parts });
  await bundle.close();
}
