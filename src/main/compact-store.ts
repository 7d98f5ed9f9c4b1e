import type { CompactTerms, Refused } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { type CompactView, compactView } from '../operator/store.ts';
import { compactLedger } from '../store/sqlite/compact.ts';
import { hasDatabase } from '../store/sqlite/copy-source.ts';
import { StoreRefused } from '../store/store.ts';
import { onClosedFolder } from './closed-folder.ts';

/** Gives the space of deleted rows back. A data folder must not be open in any process. */
export async function compactStore(terms: CompactTerms, clock: Clock): Promise<CompactView | Refused> {
  const { store, folder, progress } = terms;
  if (store !== null) {
    const { vacuumLedger } = await import('../store/postgres/compact.ts');
    try {
      return compactView('postgres', await vacuumLedger(store.url.reveal(), progress));
    } catch (error) {
      if (error instanceof StoreRefused) return { refused: error.message, unreachable: false };
      throw error;
    }
  }
  if (!hasDatabase(folder)) return { refused: `There is no ledger in ${folder}.`, unreachable: true };
  return onClosedFolder(folder, clock, () => compactView('sqlite', compactLedger({ folder, clock, progress })));
}
