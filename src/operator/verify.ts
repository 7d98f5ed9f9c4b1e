import type { z } from 'zod';
import type { Ledger, VerifyProgress } from '../ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import type { verification } from './input.ts';
import { acceptedLossView, type LedgerView, verifyView } from './view.ts';

export interface VerifyServices {
  readonly ledger: Pick<Ledger, 'verify'>;
  readonly store: Pick<Store, 'acceptedLosses'>;
}

export async function verify(
  { ledger, store }: VerifyServices,
  { since }: z.output<typeof verification>,
  progress?: (done: VerifyProgress) => void,
): Promise<LedgerView> {
  const report = verifyView(await ledger.verify(progress, since));
  return { ...report, accepted_losses: (await store.acceptedLosses()).map(acceptedLossView) };
}
