import type { Config } from '../config/config.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import type { Store } from '../store/store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface BookkeepingTerms {
  readonly config: Pick<Config, 'retention'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a server does with its books while it serves: closings once a day, old idempotency keys every hour. */
export function keepBooks({ config, clock, log }: BookkeepingTerms, store: Store): { stop(): void } {
  const timers = [
    repeat(clock, DAY_MS, () => {
      const { receiptsDays } = config.retention;
      store
        .closeBooks(receiptsDays === null ? null : clock.nowMs() - receiptsDays * DAY_MS)
        .then(({ closed, forgotten }) => log.info({ closed, forgotten }, 'The books were closed.'))
        .catch((error: unknown) => log.error(errorFields(error), 'The books could not be closed.'));
    }),
    repeat(clock, LIMITS.idempotencySweepMs, () => {
      store
        .sweepIdempotencyKeys()
        .then((swept) => log.debug({ swept }, 'Idempotency keys whose time was over were forgotten.'))
        .catch((error: unknown) => log.error(errorFields(error), 'Old idempotency keys could not be forgotten.'));
    }),
  ];
  return {
    stop: () => {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** The first time soon after the start, since a process may not live as long as the period. */
function repeat(clock: Clock, periodMs: number, run: () => void): Timer {
  let timer = clock.after(LIMITS.bookkeepingFirstMs, again, { unref: true });
  function again(): void {
    timer = clock.after(periodMs, again, { unref: true });
    run();
  }
  return { cancel: () => timer.cancel() };
}
