import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { copyInto, filesUnder } from './files.ts';
import { BUNDLED, packageManifest } from './manifest.ts';
import { importedModules, usedFiles } from './used-files.ts';

export interface StageTerms {
  /** The repository to pack, with its packages installed. */
  readonly root: string;
  /** Where the files of the package go; it is empty or missing. */
  readonly folder: string;
  /** Build the console, or take the one that `npm ci` has built if there is one. */
  readonly console: 'build' | 'take';
}

const FOLDERS = ['bin', 'data', 'public', 'deploy'];
const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
const FILES = [...PAGES, 'LICENSE', 'tollgate.config.schema.json'];
/** Made for one machine, with its secrets. */
const NEVER = 'deploy/.env';

/** Writes the package as it is published into a folder, from the sources. */
export function stagePackage(terms: StageTerms): void {
  const { root, folder } = terms;
  compile(root, folder);
  addConsole(terms);
  const folders = FOLDERS.flatMap((name) => filesUnder(join(root, name)).map((path) => `${name}/${path}`));
  copyInto(folder, root, [...folders.filter((path) => path !== NEVER), ...FILES, ...documents(root)]);
  bundleTokenizer(root, folder);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packageManifest(root), null, 2)}\n`);
}

/** Without source maps, which would be of use only beside the sources. */
function compile(root: string, folder: string): void {
  const options = ['--outDir', join(folder, 'dist'), '--sourceMap', 'false', '--removeComments'];
  runNode(root, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...options]);
}

function addConsole({ root, folder, console }: StageTerms): void {
  const built = join(root, 'dist/console');
  const target = join(folder, 'dist/console');
  if (console === 'take' && existsSync(join(built, 'index.html'))) cpSync(built, target, { recursive: true });
  else runNode(root, ['console/build.js', '--out', target]);
}

function runNode(root: string, args: readonly string[]): void {
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** All pages, and the pictures that they show; the rest of docs/ belongs to the site. */
function documents(root: string): string[] {
  const pages = filesUnder(join(root, 'docs'))
    .filter(
      (path) =>
        path.endsWith('.md') && !path.split('/').some((part) => part.startsWith('.') || part === 'node_modules'),
    )
    .map((path) => `docs/${path}`);
  const pictures = [...PAGES, ...pages].flatMap((page) => {
    const shown = readFileSync(join(root, page), 'utf8').matchAll(/!\[[^\]]*\]\((?!https?:)([^)]+)\)/g);
    return [...shown].map(([, path]) => normalize(join(dirname(page), path!)));
  });
  return [...new Set([...pages, ...pictures])].sort();
}

function bundleTokenizer(root: string, folder: string): void {
  const source = join(root, 'node_modules', BUNDLED);
  const target = join(folder, 'node_modules', BUNDLED);
  const compiled = filesUnder(join(folder, 'dist')).filter(
    (path) => path.endsWith('.js') && !path.startsWith('console/'),
  );
  const modules = importedModules(
    compiled.map((path) => join(folder, 'dist', path)),
    BUNDLED,
  );
  const files = usedFiles(
    source,
    modules.map((module) => `esm/${module}.js`),
  );
  mkdirSync(target, { recursive: true });
  copyInto(target, source, ['package.json', 'LICENSE', 'esm/package.json', ...files]);
}
