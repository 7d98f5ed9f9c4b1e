import { RefusalLog } from '../gateway/refusal-log.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Store } from '../store/store.ts';

export function openRefusalLog({ usage }: Pick<Store, 'usage'>, clock: Clock, log: Log): RefusalLog {
  return new RefusalLog({
    usage,
    clock,
    onFailure: (error) => log.warn(errorFields(error), 'Refused calls could not be stored. Tollgate will try again.'),
  });
}
