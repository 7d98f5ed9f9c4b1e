import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Writes a whole file in one step: a reader sees the old text or the new one, even after a crash. Others cannot read it. */
export function replaceFile(path: string, text: string): void {
  makeFolder(dirname(path));
  const draft = `${path}.new`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, path);
}

/** Returns whether there was such a file. */
export function removeFile(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
