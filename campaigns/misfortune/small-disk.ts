import { mkdirSync, rmdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../../src/limits.ts';
import { diskFolder } from '../disk-folder.ts';
import { runProgram, whyNoProgram } from './programs.ts';

/** More than the free space that the gateway wants. It takes no memory before it is used. */
const ROOMY_BYTES = 2 * LIMITS.diskFreeBytesMin;

const SHRINK_ATTEMPTS_MAX = 50;

/** A disk of its own, in memory, whose size can change while it is in use. */
export class SmallDisk {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    runProgram('mount', '-t', 'tmpfs', '-o', `size=${ROOMY_BYTES},mode=0700`, 'tollgate-misfortune', path);
    process.once('exit', this.remove);
  }

  /** Leaves this many bytes free, in whole pages. */
  shrinkTo(freeBytes: number): void {
    for (let attempt = 1; ; attempt++) {
      const { blocks, bfree, bsize } = statfsSync(this.path);
      try {
        this.#remount(`size=${(blocks - bfree) * bsize + freeBytes}`);
        return;
      } catch (error) {
        // More may have been written meanwhile, and a disk cannot become smaller than what is on it.
        if (attempt === SHRINK_ATTEMPTS_MAX) throw error;
      }
    }
  }

  grow(): void {
    this.#remount(`size=${ROOMY_BYTES}`);
  }

  /** Fails while a process has a file open for writing. */
  setReadOnly(isReadOnly: boolean): void {
    this.#remount(isReadOnly ? 'ro' : 'rw');
  }

  readonly remove = (): void => {
    process.removeListener('exit', this.remove);
    runProgram('umount', '--lazy', this.path);
    rmdirSync(this.path);
  };

  #remount(option: string): void {
    runProgram('mount', '-o', `remount,${option}`, this.path);
  }
}

let known: string | null | undefined;

/** Why this machine cannot have such a disk; null if it can. */
export function whyNoSmallDisk(): string | null {
  known ??= probe();
  return known;
}

function probe(): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount a small disk';
  const missing = whyNoProgram('mount') ?? whyNoProgram('umount');
  if (missing !== null) return missing;
  try {
    new SmallDisk(join(diskFolder('tollgate-disk-'), 'disk')).remove();
    return null;
  } catch {
    return 'this machine does not let root mount a small disk';
  }
}
