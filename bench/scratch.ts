import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child.ts';

/** A folder on the disk of this checkout, as a gateway's own would be. Ends all children and removes it afterwards. */
export async function inScratchFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const scratch = join(import.meta.dirname, '../.tollgate');
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, 'bench-'));
  try {
    await run(folder);
  } finally {
    await Child.stopAll();
    rmSync(folder, { recursive: true });
  }
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
