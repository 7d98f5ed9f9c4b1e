import { handleTimerErrors } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';

/** Logs and counts what timers throw: the failure of one timer must not end the process and its running calls. */
export function watchTimers(log: Log): { readonly errors: number; stop(): void } {
  let errors = 0;
  const stop = handleTimerErrors((error) => {
    errors++;
    log.error(errorFields(error), 'A timer failed unexpectedly.');
  });
  return {
    get errors() {
      return errors;
    },
    stop,
  };
}
