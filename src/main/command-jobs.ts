import type { JobControl } from '../jobs/jobs.ts';
import { StoredJobs } from '../jobs/stored-jobs.ts';
import type { Clock } from '../kit/clock.ts';
import type { Books } from './books.ts';

/** For a command without a running server: no job runs in its process, and no call waits for it. */
export function commandJobs({ store, ledger }: Pick<Books, 'store' | 'ledger'>, clock: Clock): JobControl {
  return new StoredJobs({
    store: store.jobs,
    ledger,
    clock,
    yieldToCalls: async () => {},
    worker: { nudge: () => {}, cancel: () => {} },
    onEnded: () => {},
  });
}
