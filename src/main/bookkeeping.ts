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

/** Maintenance while the server runs: closes the ledger once a day, deletes old idempotency keys every hour. */
export function keepBooks({ config, clock, log }: BookkeepingTerms, store: Store): { stop(): void } {
  const timers = [
    repeat(clock, DAY_MS, () => {
      const { receiptsDays } = config.retention;
      store
        .closeBooks(receiptsDays === null ? null : clock.nowMs() - receiptsDays * DAY_MS)
        .then(({ closed, forgotten }) => log.info({ closed, forgotten }, 'Ledger closed.'))
        .catch((error: unknown) => log.error(errorFields(error), 'Closing the ledger failed.'));
    }),
    repeat(clock, LIMITS.idempotencySweepMs, () => {
      store
        .sweepIdempotencyKeys()
        .then((swept) => log.debug({ swept }, 'Expired idempotency keys deleted.'))
        .catch((error: unknown) => log.error(errorFields(error), 'Deleting expired idempotency keys failed.'));
    }),
  ];
  return {
    stop: () => {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Runs soon after the start, because a process may not live as long as the period. */
function repeat(clock: Clock, periodMs: number, run: () => void): Timer {
  let timer = clock.after(LIMITS.bookkeepingFirstMs, again, { unref: true });
  function again(): void {
    timer = clock.after(periodMs, again, { unref: true });
    run();
  }
  return { cancel: () => timer.cancel() };
}
