import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Set while a run of the tests keeps temporary files in memory: where they would be otherwise. */
export const DISK_VARIABLE = 'TOLLGATE_TEST_DISK';

/** A new temporary folder on a disk, for what is about disks or `kill -9`: in memory, an fsync would take no time. */
export function diskFolder(prefix: string): string {
  return mkdtempSync(join(process.env[DISK_VARIABLE] ?? tmpdir(), prefix));
}
