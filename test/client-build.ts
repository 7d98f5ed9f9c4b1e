import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const COMPILER = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

export type PackageName = 'client' | 'ai-sdk';

export function tsc(...args: readonly string[]): void {
  execFileSync(process.execPath, [COMPILER, ...args], { cwd: ROOT, stdio: 'pipe' });
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
  const runs = scripts.build.split(' && ').filter((command) => command.startsWith('tsc '));
  for (const command of runs) tsc('-p', config, ...command.split(' ').slice(3));
  copyFileSync(join(source, 'package.json'), join(folder, 'package.json'));
}
