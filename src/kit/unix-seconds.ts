/** Times are in milliseconds inside, and in whole seconds since 1970 in what others read. */
export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

export function secondsOrNull(ms: number | null): number | null {
  return ms === null ? null : toSeconds(ms);
}
