import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ConfigError } from './problems.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** An empty variable would lead to the current folder. */
export function homeFolder(env: Variables): string {
  return env.HOME || homedir() || folderOfUser();
}

/** Containers may run as a user that the system does not know. */
function folderOfUser(): string {
  try {
    return userInfo().homedir;
  } catch {
    const message = 'is empty, and this user has no home folder; set it, or name the data folder with --data';
    throw new ConfigError([{ source: 'HOME', path: '', message }]);
  }
}

/** As in the XDG base directory specification, which ignores relative paths. */
export function defaultDataFolder(env: Variables): string {
  const base = env.XDG_DATA_HOME ?? '';
  return isAbsolute(base) ? join(base, 'tollgate') : join(homeFolder(env), '.local', 'share', 'tollgate');
}
