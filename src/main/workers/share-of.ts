/** One worker's part of a limit that cannot be shared. All parts together are the limit, but each is at least 1. */
export function shareOf(
  limit: number,
  { worker, workers }: { readonly worker: number; readonly workers: number },
): number {
  const rest = limit % workers;
  return Math.max(1, Math.floor(limit / workers) + (worker < rest ? 1 : 0));
}
