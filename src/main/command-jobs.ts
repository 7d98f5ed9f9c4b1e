import type { JobServices } from '../jobs/job.ts';
import { JobService } from '../jobs/job-service.ts';
import { JobWaiters } from '../jobs/waiters.ts';
import type { Clock } from '../kit/clock.ts';
import type { OperatorJobs } from '../operator/services.ts';
import type { Books } from './books.ts';

/** For a command without a running server: it shows and ends jobs. It accepts and runs none, so it needs no gateway. */
export function commandJobs(books: Pick<Books, 'store' | 'ledger'>, clock: Clock): OperatorJobs {
  const used = { gateway: { clock }, store: books.store.jobs, ledger: books.ledger, yieldToCalls: async () => {} };
  return new JobService({
    services: used as unknown as JobServices,
    worker: { nudge: () => {}, cancel: () => {} },
    waiters: new JobWaiters(),
    onEnded: () => {},
  });
}
