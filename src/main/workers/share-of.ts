/** The part of a limit that one worker has, of a limit that cannot be shared; together they never have more. */
export function shareOf(
  limit: number,
  { worker, workers }: { readonly worker: number; readonly workers: number },
): number {
  const rest = limit % workers;
  return Math.max(1, Math.floor(limit / workers) + (worker < rest ? 1 : 0));
}
