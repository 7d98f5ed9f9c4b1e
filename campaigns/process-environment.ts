import { join } from 'node:path';

/** Shared by every process that tests and campaigns start: without it, each of them compiles all sources again. */
export const COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate');

/** The environment of a gateway or a command in a process of its own, without the variables of this one. */
export function processEnvironment(home: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  // The same on every machine, whatever its number of cores.
  const workers = { TOLLGATE_WORKERS: '1' };
  return { PATH: process.env.PATH ?? '', HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE, ...workers, ...more };
}
