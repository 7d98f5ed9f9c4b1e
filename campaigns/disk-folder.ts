import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Set while a run of the tests keeps temporary files in memory: where they would be otherwise. */
export const DISK_VARIABLE = 'TOLLGATE_TEST_DISK';

/** A new temporary folder on a disk, for what is about disks or `kill -9`: in memory, an fsync would take no time. */
export function diskFolder(prefix: string): string {
  return mkdtempSync(join(diskTemporary(), prefix));
}

/** The folder for temporary files on a disk: what one run of the tests keeps in memory is gone in the next. */
export function diskTemporary(): string {
  return process.env[DISK_VARIABLE] ?? tmpdir();
}
