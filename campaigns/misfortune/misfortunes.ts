import { clockBack, clockForward } from './clock.ts';
import { damagedLog } from './damaged-log.ts';
import { noDescriptors } from './descriptors.ts';
import { fileSize } from './file-size.ts';
import { frozen } from './frozen.ts';
import { fullDisk } from './full-disk.ts';
import type { Misfortune } from './misfortune.ts';
import { readOnlyDisk, readOnlyFiles } from './read-only.ts';
import { restoredPostgres } from './restored-postgres.ts';
import { stalledHost } from './stalled-host.ts';
import { stalledPostgres } from './stalled-postgres.ts';
import { closedTerminal } from './terminal.ts';

/** In turns, so that even a few rounds include each of them. */
export const MISFORTUNES: readonly Misfortune[] = [
  restoredPostgres,
  stalledPostgres,
  fullDisk,
  fileSize,
  readOnlyDisk,
  readOnlyFiles,
  closedTerminal,
  noDescriptors,
  clockForward,
  clockBack,
  damagedLog,
  stalledHost,
  frozen,
];
