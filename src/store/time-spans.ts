export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export function startOf(spanMs: number, ms: number): number {
  return Math.floor(ms / spanMs) * spanMs;
}
