import { basename, relative } from 'node:path';
import type { Environment } from '../config/config.ts';
import { shellWord } from '../kit/shell-words.ts';

interface Invocation {
  readonly env: Environment;
  /** The script that Node runs, as in `process.argv[1]`; null if unknown. */
  readonly script: string | null;
  readonly cwd: string;
}

/** How the user started this program, for hints that can be copied. */
export function programName({ env, script, cwd }: Invocation): string {
  // npx and npm say so themselves; npm also provides the right Node, so it stays in the hint.
  if (env.npm_command === 'exec') return 'npx tollgate';
  if (env.npm_package_name === 'tollgate') return 'npm run -s tollgate --';
  if (script === null || basename(script) !== 'tollgate.js') return 'tollgate';
  const near = relative(cwd, script);
  return `node ${shellWord(near.startsWith('..') ? script : near)}`;
}
