import { GatewayError } from '../canonical/errors.ts';
import { type Ledger, StoreUnavailable } from '../ledger/ledger.ts';
import type { JobChunk, JobStore, NewJob } from '../store/jobs.ts';

interface StageServices {
  readonly ledger: Pick<Ledger, 'whyNotAdmitting'>;
  readonly store: Pick<JobStore, 'stage' | 'putChunks'>;
}

/**
 * Stores jobs and their requests, before they are accepted. A request that is too large for one commit follows its job in
 * pieces. While no call is admitted, nothing is stored: the rest of a disk that is nearly full is for settlements.
 */
export async function stageSlice(
  { ledger, store }: StageServices,
  jobs: readonly NewJob[],
  chunks: readonly JobChunk[],
): Promise<void> {
  const later = jobs.length === 1 ? chunks.slice(1) : [];
  if (ledger.whyNotAdmitting !== null) throw new StoreUnavailable(ledger.whyNotAdmitting);
  const staged = await store.stage(jobs, chunks.slice(0, chunks.length - later.length));
  if (staged === 'no_group') throw tookTooLong();
  for (const chunk of later) await store.putChunks([chunk]);
}

function tookTooLong(): GatewayError {
  return new GatewayError('request_timeout', {
    message: 'The group took longer than an hour to arrive, and was dropped. Send it again, in smaller groups.',
  });
}
