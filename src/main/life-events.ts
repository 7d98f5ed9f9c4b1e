import { errorFields, type Log } from '../kit/log.ts';
import type { LifeEvent } from '../ledger/life.ts';

/** What the operator reads about this process's life among others. */
export function tellLifeEvent(event: LifeEvent, log: Log): void {
  if (event.kind === 'reborn') {
    const { epoch, number } = event.instance;
    const said = 'This process was taken for dead, and its holds were voided; it goes on as a new one.';
    log.error({ epoch: epoch.toString(), instance: number }, said);
  } else if (event.kind === 'reaped') log.warn({ holds: event.holds }, 'Holds of dead processes were given back.');
  else if (event.kind === 'stuck')
    log.error({ reason: event.reason }, 'Holds of dead processes stay held: verify the books.');
  else if (event.what === 'beat') log.warn(errorFields(event.error), 'The store could not be told that we live.');
  else log.warn(errorFields(event.error), 'Holds of dead processes could not be given back.');
}
