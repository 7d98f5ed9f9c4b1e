import type { KeptEntry } from './kept-threads.ts';

/** The threads of a gateway, as places in src/. One that is missing here cannot start in a program that a run has built. */
export const THREADS: readonly string[] = [
  'gateway/counting/count-thread',
  'main/workers/call-worker',
  'store/archive/check-worker',
  'store/sqlite/backup-worker',
  'store/sqlite/scanner',
  'store/sqlite/writer',
];

/** Those of stores, which nearly every test starts, and what each is called in `test/kept-thread.ts`. */
export const KEPT_THREADS: readonly (readonly [path: string, entry: KeptEntry])[] = [
  ['store/sqlite/scanner', 'scanner'],
  ['store/sqlite/writer', 'writer'],
];

/** The thread that does the work of either; in test/. */
export const KEPT_THREAD = 'kept-thread';

/** Where a thread is built, without the extension: beside the programs that start it. */
export function builtThread(path: string): string {
  return `main/${path.slice(path.lastIndexOf('/') + 1)}`;
}
