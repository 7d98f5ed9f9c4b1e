import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DISK_VARIABLE } from '../campaigns/disk-folder.ts';

/** A file system in memory, which every Linux has; containers often have a very small one. */
const IN_MEMORY = '/dev/shm';

/** Several times what the tests have needed at once, and enough for a gateway to find no fault with the disk. */
const FREE_BYTES_MIN = 4 * 2 ** 30;

/**
 * Has this process, and those that it starts, keep temporary files in memory, where an fsync takes no time. Where that is
 * not possible, or somebody has said where they belong, they stay on the disk.
 */
export function keepFilesInMemory(place = IN_MEMORY, freeBytesMin = FREE_BYTES_MIN): void {
  if (process.env.TMPDIR !== undefined || freeBytesOf(place) < freeBytesMin) return;
  const folder = folderIn(place);
  if (folder === null) return;
  removeAtTheEnd(folder);
  process.env[DISK_VARIABLE] = tmpdir();
  process.env.TMPDIR = folder;
}

/** Both the file system's and the machine's: the file system claims half of the memory, used or not. */
function freeBytesOf(place: string): number {
  try {
    const { bavail, bsize } = statfsSync(place);
    return Math.min(bavail * bsize, freemem());
  } catch {
    return 0;
  }
}

function folderIn(place: string): string | null {
  try {
    const folder = mkdtempSync(join(place, 'tollgate-'));
    // Servers that tests start as other users look for their own folders in it.
    chmodSync(folder, 0o755);
    return folder;
  } catch {
    return null;
  }
}

/** The shell removes the folder when its own input ends, and so when we are gone, however we went. */
function removeAtTheEnd(folder: string): void {
  const script = 'read -r _; rm -rf "$1"';
  // In a group of its own, so that Ctrl-C does not end the shell first.
  const shell = spawn('sh', ['-c', script, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  (shell.stdin as Socket).unref();
}
