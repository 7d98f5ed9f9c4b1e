import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

export interface TurnTerms {
  readonly clock: Clock;
  /** Whether calls need all there is. */
  isBusy(): boolean;
}

/** For long work in small steps: the returned function is called between steps, and lets calls go first. */
export function turnTaker({ clock, isBusy }: TurnTerms): () => Promise<void> {
  let startedMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - startedMs < LIMITS.jobTurnMs) return;
    await nextTurn();
    if (isBusy()) await pause(clock);
    startedMs = clock.monotonicMs();
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(LIMITS.jobBusyPauseMs, resolve);
  });
}
