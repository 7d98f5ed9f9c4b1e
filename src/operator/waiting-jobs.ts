import type { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { Store } from '../store/store.ts';

interface JobBooks {
  readonly store: Pick<Store, 'jobs'>;
  readonly ledger: Pick<Ledger, 'releaseJob'>;
}

/** Cancels the next waiting jobs of an account, or of one of its keys, and returns how many it found. */
export async function cancelWaitingJobs(
  { store, ledger }: JobBooks,
  owner: { readonly accountId: bigint; readonly keyId?: bigint },
  error: { readonly errorCode: string; readonly errorMessage: string },
): Promise<number> {
  const { accountId } = owner;
  for (const groupId of await store.jobs.groupsToActivate(LIMITS.storePageRowsMax)) await store.jobs.activate(groupId);
  const waiting = await store.jobs.waitingOf(owner, LIMITS.storePageRowsMax);
  await Promise.all(waiting.map(({ id }) => ledger.releaseJob({ id, accountId, end: 'cancelled', ...error })));
  return waiting.length;
}
