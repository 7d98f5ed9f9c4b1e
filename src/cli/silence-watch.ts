import type { Clock, Timer } from '../kit/clock.ts';

export interface SilenceWatch {
  /** Aborted once the other side has been silent for too long. */
  readonly signal: AbortSignal;
  stop(): void;
}

/**
 * Distinguishes a server that is busy for long from one that has stopped. After half of the allowed silence it sends a
 * ping; if that is not answered in the other half, the signal is aborted.
 */
export function watchSilence(
  clock: Clock,
  silenceMs: number,
  ping: (signal: AbortSignal) => Promise<unknown>,
): SilenceWatch {
  const silent = new AbortController();
  const stopped = new AbortController();
  let timer: Timer = waitForPing();

  function waitForPing(): Timer {
    return clock.after(
      silenceMs / 2,
      () => {
        timer = clock.after(silenceMs / 2, () => silent.abort(), { unref: true });
        // A failed ping is not an answer, so the deadline stays.
        ping(stopped.signal).then(hear, () => undefined);
      },
      { unref: true },
    );
  }

  function hear(): void {
    if (stopped.signal.aborted || silent.signal.aborted) return;
    timer.cancel();
    timer = waitForPing();
  }

  return {
    signal: silent.signal,
    stop: () => {
      timer.cancel();
      stopped.abort();
    },
  };
}
