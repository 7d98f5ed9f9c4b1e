/** The threads of a gateway, as places in src/. One that is missing here cannot start in a program that a run has built. */
export const THREADS: readonly string[] = [
  'gateway/counting/count-thread',
  'main/workers/call-worker',
  'store/archive/check-worker',
  'store/sqlite/backup-worker',
  'store/sqlite/scanner',
  'store/sqlite/writer',
];

/** Where a thread is built, without the extension: beside the programs that start it. */
export function builtThread(path: string): string {
  return `main/${path.slice(path.lastIndexOf('/') + 1)}`;
}
