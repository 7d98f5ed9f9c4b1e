import type { Clock } from './clock.ts';

/** Resolves after this time; the process stays alive meanwhile. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
