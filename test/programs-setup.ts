import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { builtName, PROGRAMS } from '../campaigns/programs.ts';
import { pathsUnder, ROOT } from './tidy/paths.ts';

const FOLDER = join(ROOT, 'node_modules', '.cache', 'tollgate-programs');
const MARK = 'built-from';

/** The command, the threads it starts, and the simulator, as places in src/. A thread that is missing here cannot start. */
const ENTRIES: Readonly<Record<string, string>> = {
  'main/main': 'main/main',
  'main/backup-worker': 'store/sqlite/backup-worker',
  'main/call-worker': 'main/workers/call-worker',
  'main/check-worker': 'store/archive/check-worker',
  'main/count-thread': 'gateway/counting/count-thread',
  'main/scanner': 'store/sqlite/scanner',
  'main/writer': 'store/sqlite/writer',
  'sim/main': 'sim/main',
};

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
  const programs = PROGRAMS.map((path) => [builtName(path), join(ROOT, path)]);
  const parts = Object.entries(ENTRIES).map(([name, path]) => [name, join(ROOT, 'src', `${path}.ts`)]);
  const bundle = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: Object.fromEntries([...parts, ...programs]),
    external: NOT_BUNDLED,
    treeshake: false,
    logLevel: 'warn',
  });
  const names = { entryFileNames: '[name].js', chunkFileNames: 'main/part-[name].js' };
  await bundle.write({ dir: join(folder, 'dist'), format: 'esm', keepNames: true, ...names });
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  for (const name of ['data', 'public', 'package.json', 'dist/console'])
    symlinkSync(join(ROOT, name), join(folder, name));
  writeFileSync(join(folder, MARK), state);
  rmSync(FOLDER, { recursive: true, force: true });
  renameSync(folder, FOLDER);
}
