import { errorFields, type Log } from '../kit/log.ts';

/** Says why the ledger cannot be written, which callers are not told, and when it can be again. */
export function logTrouble(why: unknown, log: Log): void {
  if (why === null) log.info({}, 'The ledger can be written again.');
  else {
    const fields = typeof why === 'string' ? { reason: why } : errorFields(why);
    log.error(fields, 'The ledger cannot be written: new calls are refused, and responses may have to wait.');
  }
}
