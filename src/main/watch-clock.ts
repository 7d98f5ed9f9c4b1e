import type { Clock } from '../kit/clock.ts';
import type { IdSource } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';

interface ClockWatchTerms {
  readonly clock: Clock;
  readonly log: Log;
}

/** Logs once when the clock is far behind the ledger, at the start or later, and again after it had caught up. */
export function watchClock({ clock, log }: ClockWatchTerms, ids: Pick<IdSource, 'aheadMs'>): { stop(): void } {
  let wasBehind = false;
  let timer = check();
  function check() {
    const behindMs = ids.aheadMs;
    const isBehind = behindMs > LIMITS.clockBehindMs;
    if (isBehind && !wasBehind)
      log.warn({ behind_ms: behindMs }, "The clock is behind the ledger's last call. Calls continue; check the clock.");
    wasBehind = isBehind;
    return clock.after(LIMITS.clockCheckMs, again, { unref: true });
  }
  function again(): void {
    timer = check();
  }
  return { stop: () => timer.cancel() };
}
