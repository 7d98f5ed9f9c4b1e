import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those that it is in; returns the first one that was made, or undefined if all were there. Node's own
 * `recursive` never ends where the parent exists and the system still answers ENOENT, as for automounts and in /proc.
 */
export function makeFolder(path: string, mode = 0o700): string | undefined {
  try {
    mkdirSync(path, { mode });
    return path;
  } catch (error) {
    if (isFolder(path)) return undefined;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || isFolder(parent) || parent === path) throw error;
    const first = makeFolder(parent, mode);
    return makeFolder(path, mode) === undefined ? first : (first ?? path);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
