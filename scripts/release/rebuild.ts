import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the files of the last commit into a folder, with the packages that are installed in the repository. */
export function exportCommit(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 1024 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  for (const modules of ['node_modules', 'console/node_modules'])
    symlinkSync(join(root, modules), join(folder, modules));
}
