import { errorFields, type Log } from '../kit/log.ts';
import type { InstanceEvent } from '../ledger/heartbeat.ts';

/** Logs what happens to this process's registration in a shared store. */
export function logInstanceEvent(event: InstanceEvent, log: Log): void {
  if (event.kind === 'reregistered') {
    const { epoch, number } = event.instance;
    const said =
      'This process did not respond and was declared dead, and its holds were released. It continues under a new registration.';
    log.error({ epoch: epoch.toString(), instance: number }, said);
  } else if (event.kind === 'replaced') {
    const { epoch, number } = event.instance;
    const said =
      'The database was put back to an older state or replaced. Running calls are not charged. Compare the newest receipts with what callers report.';
    log.error({ epoch: epoch.toString(), instance: number, reason: event.reason }, said);
  } else if (event.kind === 'reaped') log.warn({ holds: event.holds }, 'Holds of dead processes released.');
  else if (event.kind === 'stuck')
    log.error({ reason: event.reason }, 'Holds of dead processes cannot be released: run "tollgate ledger verify".');
  else if (event.what === 'heartbeat') log.warn(errorFields(event.error), 'Heartbeat to the store failed.');
  else log.warn(errorFields(event.error), 'Releasing the holds of dead processes failed.');
}
