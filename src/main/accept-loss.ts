import type { AcceptLossTerms, Refused } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { type AcceptLossView, acceptLossView } from '../operator/store.ts';
import { acceptLoss } from '../store/sqlite/accept-loss.ts';
import { onClosedFolder } from './closed-folder.ts';

/** Lets a ledger that no process has open continue without the commits that it has lost. */
export async function acceptStoreLoss(terms: AcceptLossTerms, clock: Clock): Promise<AcceptLossView | Refused> {
  return onClosedFolder(terms.folder, clock, () => acceptLossView(acceptLoss({ ...terms, clock })));
}
