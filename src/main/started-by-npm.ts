import type { Environment } from '../config/config.ts';

/** A lone `&`, which puts a command in the background; not one of `&&`, `2>&1` or `&>`. */
const BACKGROUND = /(?<![&>])&(?![&>\d])/;

/**
 * Whether npm or npx started this process in the foreground. They run commands in a shell and pass signals to the shell only,
 * which ends without passing them on. A script that puts its command in the background means it to outlive the shell.
 */
export function isForegroundOfNpm(env: Environment): boolean {
  const script = env.npm_lifecycle_script;
  return script !== undefined && !BACKGROUND.test(script);
}
