import { errorFields, type Log } from '../kit/log.ts';
import type { OnTrouble } from '../ledger/trouble-report.ts';

/** Says why calls are refused, which their callers are not told, and when that is over. */
export function logTrouble(log: Log): OnTrouble {
  return (trouble, why) => {
    if (trouble === 'admitting') {
      if (why === null) log.info({}, 'New calls are admitted again.');
      else log.warn({ reason: why }, 'New calls are refused.');
    } else if (why === null) log.info({}, 'The ledger can be written again.');
    else
      log.error(
        errorFields(why),
        'The ledger cannot be written. New calls are refused, and running ones wait for it before they end.',
      );
  };
}
