import { createHash } from 'node:crypto';
import { copyFileSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Every file under a folder, by its path from there, in a fixed order. */
export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

export function copyInto(target: string, source: string, paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFileSync(join(source, path), join(target, path));
  }
}

/** Copies one package, without packages inside of it. It takes no space where source and target are on one disk. */
export function hardLink(source: string, target: string): void {
  for (const path of filesUnder(source)) {
    if (path.startsWith('node_modules/')) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    try {
      linkSync(join(source, path), join(target, path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      copyFileSync(join(source, path), join(target, path));
    }
  }
}

export function digests(folder: string): Map<string, string> {
  const digestOf = (path: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  return new Map(filesUnder(folder).map((path) => [path, digestOf(path)]));
}

export interface TreeSize {
  readonly packages: number;
  readonly files: number;
  readonly fileBytes: number;
  /** With every file rounded up to whole blocks, as most disks keep it. */
  readonly diskBytes: number;
}

const BLOCK_BYTES = 4_096;

/** What an installation takes; `folder` has the node_modules. */
export function measureTree(folder: string): TreeSize {
  const paths = filesUnder(folder);
  const sizes = paths.map((path) => lstatSync(join(folder, path)).size);
  const packages = paths.filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path));
  return {
    packages: packages.length,
    files: paths.length,
    fileBytes: sizes.reduce((sum, size) => sum + size, 0),
    diskBytes: sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES, 0),
  };
}
