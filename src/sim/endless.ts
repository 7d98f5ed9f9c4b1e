import { LIMITS } from '../limits.ts';

/** A body that starts normally and never ends, up to the simulator's own limit. */
export function* endlessBody(opening: string, piece: string): Iterable<string> {
  yield opening;
  for (let chunk = 0; chunk < LIMITS.simEndlessChunksMax; chunk++) yield piece;
}

export const ENDLESS_TEXT = 'and so the simulated answer goes on without an end ';
