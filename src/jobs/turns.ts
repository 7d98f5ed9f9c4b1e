import type { Clock } from '../kit/clock.ts';
import { pause } from '../kit/pause.ts';
import { LIMITS } from '../limits.ts';

interface TurnTerms {
  readonly clock: Clock;
  /** Whether calls need the whole process. */
  isBusy(): boolean;
  /** Whether calls are under way. */
  hasCalls(): boolean;
}

/**
 * For long work in small steps: the returned function is called between steps, and lets calls go first. While there are
 * calls, all work of this kind together gets a quarter of the time.
 */
export function turnTaker({ clock, isBusy, hasCalls }: TurnTerms): () => Promise<void> {
  let startedMs = clock.monotonicMs();
  /** When a step was last taken. */
  let seenMs = startedMs;
  let turn: Promise<void> = Promise.resolve();
  const nextStep = async (): Promise<void> => {
    await nextTurn();
    const restMs = Math.min((seenMs - startedMs) * LIMITS.jobRestFactor, LIMITS.jobRestMaxMs);
    if (hasCalls()) await pause(clock, restMs);
    if (isBusy()) await pause(clock, LIMITS.jobBusyPauseMs);
    startedMs = clock.monotonicMs();
    seenMs = startedMs;
  };
  return () => {
    seenMs = clock.monotonicMs();
    if (seenMs - startedMs < LIMITS.jobTurnMs) return DONE;
    turn = turn.then(nextStep);
    return turn;
  };
}

const DONE = Promise.resolve();

/** Lets the event loop look at everything that has arrived. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
