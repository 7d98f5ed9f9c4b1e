import { readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Every path under a folder, files and folders, from the root of the repository. */
export function pathsUnder(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries.map((entry) => relative(ROOT, join(entry.parentPath, entry.name))).toSorted();
}
