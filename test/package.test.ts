import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diskFolder } from '../campaigns/disk-folder.ts';
import { describeSize, isSmallEnough } from '../scripts/package/describe-size.ts';
import { filesUnder, measureTree } from '../scripts/package/files.ts';
import type { PackageManifest } from '../scripts/package/manifest.ts';
import { installFromClone, packPackage } from '../scripts/package/pack.ts';
import { importedPackages } from '../scripts/package/used-files.ts';
import { smokeTest } from '../scripts/release/smoke-test.ts';
import { IMAGE_ENV, wordsAfter } from './containerfile.ts';

/** The package as it is published: built, packed, installed into an empty folder, and run there. */

const ROOT = resolve(import.meta.dirname, '..');
// On the disk, so that files of packages can be linked instead of copied.
const folder = diskFolder('tollgate-package-');
/** A folder for the PATH that contains only Node. */
const path = join(folder, 'path');
let installed: string;
let files: string[];
let manifest: PackageManifest;

beforeAll(() => {
  const tarball = packPackage({ root: ROOT, into: join(folder, 'tarball'), console: 'take' });
  installed = installFromClone(ROOT, tarball, join(folder, 'project'));
  files = filesUnder(installed).filter((file) => !file.startsWith('node_modules/'));
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  mkdirSync(path);
  symlinkSync(process.execPath, join(path, 'node'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running: ChildProcess[] = [];
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a gateway of the package; resolves to its address. */
async function serve(command: readonly string[], cwd: string, env: Record<string, string>): Promise<string> {
  const [program, ...args] = command;
  const child = spawn(program!, [...args, '--json', '--log-level', 'error'], {
    cwd,
    env: { PATH: path, HOME: folder, TOLLGATE_PORT: '0', TOLLGATE_LOCAL_HOSTS: 'false', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.push(child);
  const [line] = await once(createInterface({ input: child.stdout! }), 'line');
  return (JSON.parse(line) as { url: string }).url;
}

async function stop(): Promise<number> {
  const child = running.pop()!;
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  return code;
}

test('answers a call with a receipt in an empty folder, with nothing but Node on the machine', async () => {
  const env = { PATH: path, HOME: folder, TOLLGATE_DATA: join(folder, 'data') };
  const cwd = join(folder, 'project');
  const { costNanousd } = await smokeTest({ command: ['node_modules/.bin/tollgate'], cwd, env });
  expect(BigInt(costNanousd)).toBeGreaterThan(0n);
});

describe('the image', () => {
  test('serves, is healthy, and backs up its books, started as its file says', async () => {
    const env = {
      ...IMAGE_ENV,
      TOLLGATE_DATA: join(folder, 'volume'),
      TOLLGATE_PORT: '0',
      TOLLGATE_OPERATIONS_PORT: '0',
      TOLLGATE_HOST: '127.0.0.1',
      TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64'),
    };
    const entry = wordsAfter('ENTRYPOINT');
    const { port } = new URL(await serve([...entry, ...wordsAfter('^CMD')], installed, env));
    const run = (words: readonly string[], more: Record<string, string> = {}) => {
      const [program, ...args] = words;
      return spawnSync(program!, args, { cwd: installed, env: { PATH: path, ...env, ...more } }).status;
    };
    const probe = wordsAfter('  CMD');
    expect(run(probe, { TOLLGATE_PORT: port })).toBe(0);
    expect(run(probe, { TOLLGATE_PORT: '1' })).toBe(1);
    expect(run([...entry, 'store', 'backup', join(folder, 'backup.sqlite')])).toBe(0);
    expect(await stop()).toBe(0);
  });

  test('has the package where npm installs it for everybody', () => {
    expect(wordsAfter('ENTRYPOINT')).toEqual(['node', 'bin/tollgate.js']);
    expect(manifest.bin).toEqual({ tollgate: 'bin/tollgate.js' });
  });
});

describe('what is installed', () => {
  test('is small', () => {
    const size = measureTree(join(folder, 'project'));
    expect(isSmallEnough(size), describeSize(size)).toBe(true);
    expect(size.packages).toBe(Object.keys(manifest.dependencies).length + 1);
  });

  test('has no install script, and nothing compiled for one kind of machine', () => {
    const all = filesUnder(join(folder, 'project'));
    expect(all.filter((file) => /\.node$|(^|\/)binding\.gyp$/.test(file))).toEqual([]);
    const manifests = all.filter((file) => basename(file) === 'package.json');
    const withScripts = manifests.filter((file) => {
      const { scripts = {} } = JSON.parse(readFileSync(join(folder, 'project', file), 'utf8'));
      return ['preinstall', 'install', 'postinstall'].some((name) => name in scripts);
    });
    expect(withScripts).toEqual([]);
  });

  test('is named with exact versions, without a Node of its own and without what only development needs', () => {
    const members = ['name', 'version', 'description', 'license', 'type', 'bin', 'engines', 'dependencies'];
    expect(Object.keys(manifest)).toEqual([...members, 'bundleDependencies']);
    expect(Object.values(manifest.dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(manifest.dependencies).not.toHaveProperty('node');
  });

  test('has every package that the compiled files import', () => {
    const compiled = files.filter((file) => /^dist\/(?!console\/).*\.js$/.test(file));
    const imported = importedPackages(compiled.map((file) => join(installed, file)));
    expect(imported.length).toBeGreaterThan(5);
    expect(imported.filter((name) => !isBuiltin(name) && !(name in manifest.dependencies))).toEqual([]);
  });

  test('counts tokens with the part of the tokenizer that it has', () => {
    const count = (encoding: string): string =>
      execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '--eval',
          `import { countTokens } from 'gpt-tokenizer/encoding/${encoding}'; console.log(countTokens('hello world'))`,
        ],
        { cwd: installed, encoding: 'utf8' },
      ).trim();
    expect([count('o200k_base'), count('cl100k_base')]).toEqual(['2', '2']);
    expect(existsSync(join(installed, 'node_modules/gpt-tokenizer/cjs'))).toBe(false);
  });
});

describe('the files of the package', () => {
  test('are compiled code, data, pages and examples; no sources, tests or secrets', () => {
    const folders = ['bin', 'data', 'deploy', 'dist', 'docs', 'public'];
    const alone = files.filter((file) => !file.includes('/')).sort();
    expect([...new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]))].sort()).toEqual(
      folders,
    );
    expect(alone).toEqual([
      'ARCHITECTURE.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'package.json',
      'tollgate.config.schema.json',
    ]);
    expect(files.filter((file) => /\.ts$|\.test\.|\.map$|(^|\/)\.env$/.test(file))).toEqual([]);
  });

  test('do not name the machine that built them', () => {
    const naming = files.filter((file) => {
      const text = readFileSync(join(installed, file), 'latin1');
      return text.includes(ROOT) || text.includes(`${tmpdir()}/tollgate-stage`);
    });
    expect(naming).toEqual([]);
  });

  test('have pages whose links to other pages lead somewhere', () => {
    const pages = files.filter((file) => file.endsWith('.md'));
    const broken = pages.flatMap((page) => {
      const links = readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+\.md)(?:#[^)]*)?\)/g);
      return [...links]
        .map(([, link]) => normalize(join(dirname(page), link!)))
        .filter((link) => !files.includes(link));
    });
    // Benchmarks belong to a clone.
    expect(broken.filter((link) => !link.startsWith('bench/'))).toEqual([]);
  });
});
