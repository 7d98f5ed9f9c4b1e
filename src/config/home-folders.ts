import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/** An empty variable would lead to the current folder. */
export function homeFolder(env: Variables): string {
  return env.HOME || homedir() || userInfo().homedir;
}

/** As in the XDG base directory specification, which ignores relative paths. */
export function defaultDataFolder(env: Variables): string {
  const base = env.XDG_DATA_HOME ?? '';
  return isAbsolute(base) ? join(base, 'tollgate') : join(homeFolder(env), '.local', 'share', 'tollgate');
}
