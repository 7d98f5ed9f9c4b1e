import { statSync } from 'node:fs';
import { shellWord } from '../kit/shell-words.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** Says that other users can write to the folder, with the command that changes it; null if they cannot, or it is missing. */
export function describeOpenFolder(folder: string): { readonly problem: string; readonly remedy: string } | null {
  const mode = modeOf(folder);
  // Windows has no such mode bits.
  if ((mode & WRITABLE_BY_OTHERS) === 0 || process.platform === 'win32') return null;
  return {
    problem: `Other users can write to the data folder ${folder} (mode ${(mode & 0o777).toString(8)})`,
    remedy: `chmod go-w ${shellWord(folder)}`,
  };
}

/** 0 for a folder that is missing or cannot be reached: whoever opens it next says why. */
function modeOf(folder: string): number {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  } catch {
    return 0;
  }
}
