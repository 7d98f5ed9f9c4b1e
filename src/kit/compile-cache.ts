import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The whole environment of a thread or of a process that we start: the folder of Node's compile cache, and nothing else,
 * because other variables may be secrets.
 */
export function compileCacheVariable(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version and flags to the one that it is given, so it is given the one above ours.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/** Node's list of the parts of itself that it has loaded. It has no type, and may be missing one day. */
interface LoadedParts {
  readonly moduleLoadList?: readonly string[];
}

/** Whether this process had to strip types, because its sources were not in the compile cache. */
export function hasStrippedTypes(): boolean {
  const { moduleLoadList } = process as LoadedParts;
  return moduleLoadList?.some((part) => part.includes('/amaro/')) ?? true;
}
