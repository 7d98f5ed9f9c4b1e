import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const COMPILER = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

export type PackageName = 'client' | 'ai-sdk';

export function tsc(...args: readonly string[]): void {
  execFileSync(process.execPath, [COMPILER, ...args], { cwd: ROOT, stdio: 'pipe' });
}

/** What the compiler says about a project; empty if its types hold. */
export function typeErrorsOf(project: string): string {
  return spawnSync(process.execPath, [COMPILER, '-p', project], { cwd: project, encoding: 'utf8' }).stdout;
}

/** Builds a package as its own script does, into `<folder>/dist`, with its package.json beside it. */
export function buildPackage(name: PackageName, folder: string, paths: Record<string, string[]> = {}): void {
  const source = join(ROOT, 'packages', name);
  const config = join(folder, 'tsconfig.json');
  mkdirSync(folder, { recursive: true });
  const compilerOptions = { rootDir: join(source, 'src'), outDir: join(folder, 'dist'), paths };
  const extended = { extends: join(source, 'tsconfig.build.json'), compilerOptions, include: [join(source, 'src')] };
  writeFileSync(config, JSON.stringify(extended));
  const { scripts } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { scripts: { build: string } };
  for (const [program, ...args] of scripts.build.split(' && ').map((command) => command.split(' '))) {
    if (program === 'tsc') tsc('-p', config, ...args.slice(2));
    else if (program === 'node') execFileSync(process.execPath, [join(source, args[0]!), join(folder, 'dist')]);
  }
  for (const file of ['package.json', 'README.md']) copyFileSync(join(source, file), join(folder, file));
}

/** Builds and packs a package in `folder`, and puts what is in the tarball into a project; returns the tarball. */
export function installPackage(
  name: PackageName,
  { folder, project }: { readonly folder: string; readonly project: string },
): string {
  const staged = join(folder, name);
  const types = join(placeOf(project, 'client'), 'dist', 'index.d.ts');
  buildPackage(name, staged, name === 'client' ? {} : { '@tollgate/client': [types] });
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const out = execFileSync('npm', pack, { cwd: staged, stdio: 'pipe', encoding: 'utf8' });
  const tarball = join(folder, /"filename": "([^"]+\.tgz)"/.exec(out)![1]!);
  mkdirSync(placeOf(project, name), { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', placeOf(project, name), '--strip-components=1']);
  return tarball;
}

export function placeOf(project: string, name: PackageName): string {
  return join(project, 'node_modules', '@tollgate', name);
}
