import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CodeSplittingGroup, type Plugin, rolldown } from 'rolldown';
import { builtName, PROGRAMS } from '../campaigns/programs.ts';
import { builtThread, KEPT_THREAD, THREADS } from './thread-files.ts';
import { pathsUnder, ROOT } from './tidy/paths.ts';

const FOLDER = join(ROOT, 'node_modules', '.cache', 'tollgate-programs');
const MARK = 'built-from';

/** The command and the simulator, as places in src/. */
const COMMAND = 'main/main';
const SIMULATOR = 'sim/main';

/** It is almost the whole gateway, of which a single file would be slower to load than parts that are loaded when needed. */
const LARGE_THREAD = 'main/call-worker';

/** Modules that a process loads with all that they import; those that every process loads come first. */
const LOADED_TOGETHER = [
  'main/main.ts',
  'cli/all-commands.ts',
  'store/sqlite/sqlite-store.ts',
  'operator/operator.ts',
  'main/serve.ts',
];

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
  const command = [COMMAND, `src/${COMMAND}.ts`];
  const simulator = [SIMULATOR, `src/${SIMULATOR}.ts`];
  const threads = [
    ...THREADS.map((path) => [builtThread(path), `src/${path}.ts`]),
    [builtThread(KEPT_THREAD), `test/${KEPT_THREAD}.ts`],
  ];
  const isLarge = ([name]: string[]): boolean => name === LARGE_THREAD;
  await bundle([command, ...programs, ...threads.filter(isLarge)], folder);
  // One file each: a thread starts in a third less time than from the parts that it would share with the command.
  for (const entry of [simulator, ...threads.filter((thread) => !isLarge(thread))]) await bundle([entry], folder, true);
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  for (const name of ['data', 'public', 'package.json', 'dist/console'])
    symlinkSync(join(ROOT, name), join(folder, name));
  writeFileSync(join(folder, MARK), state);
  rmSync(FOLDER, { recursive: true, force: true });
  renameSync(folder, FOLDER);
}

async function bundle(entries: readonly string[][], folder: string, isOneFile = false): Promise<void> {
  const { plugin, groups } = loadedTogether();
  const bundle = await rolldown({
    plugins: [plugin],
    cwd: ROOT,
    platform: 'node',
    input: Object.fromEntries(entries),
    external: NOT_BUNDLED,
    logLevel: 'warn',
    // Sources import on demand for the sake of other ways to run them.
    checks: { ineffectiveDynamicImport: false },
  });
  const names = { entryFileNames: '[name].js', chunkFileNames: 'main/part-[name].js' };
  const parts = { codeSplitting: isOneFile ? false : { groups } };
  await bundle.write({ dir: join(folder, 'dist'), format: 'esm', keepNames: true, ...names, ...parts });
  await bundle.close();
}

/**
 * Puts modules that are loaded together into one file: Node takes a millisecond for each file, and `keys list` would load a hundred.
 * A module is in the file of the first of the list that imports it.
 */
function loadedTogether(): { plugin: Plugin; groups: CodeSplittingGroup[] } {
  const files = LOADED_TOGETHER.map((path) => ({ path: join(ROOT, 'src', path), modules: new Set<string>() }));
  const plugin: Plugin = {
    name: 'loaded-together',
    buildEnd() {
      const add = (id: string, modules: Set<string>): void => {
        if (files.some((file) => file.modules.has(id))) return;
        modules.add(id);
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported, modules);
      };
      for (const { path, modules } of files) add(path, modules);
    },
  };
  const groups = files.map(({ path, modules }, at) => ({
    name: `with-${basename(path, '.ts')}`,
    priority: files.length - at,
    test: (id: string) => modules.has(id),
  }));
  return { plugin, groups };
}
