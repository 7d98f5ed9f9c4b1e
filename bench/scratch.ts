import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child.ts';
import { StolenTime } from './machine.ts';

/**
 * A folder on the disk of this checkout, as a gateway's own would be. Afterwards it ends all children, removes the folder and
 * prints how much CPU time other guests of the machine took: with more than a few percent, the figures say little.
 */
export async function inScratchFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const scratch = join(import.meta.dirname, '../.tollgate');
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, 'bench-'));
  const stolen = new StolenTime();
  try {
    await run(folder);
    const share = stolen.share();
    if (share !== null)
      say(`stolen     ${(share * 100).toFixed(1)} % of the cores, by other guests of this hardware during the run`);
  } finally {
    await Child.stopAll();
    rmSync(folder, { recursive: true });
  }
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
