import type { Refused, RestoreTerms } from '../cli/composition.ts';
import type { Clock } from '../kit/clock.ts';
import { type RestoreView, restoreView } from '../operator/store.ts';
import { restoreBooks } from '../store/sqlite/restore.ts';
import { onClosedFolder } from './closed-folder.ts';

/** Restores a backup into a folder that no process has open. */
export async function restoreStore(terms: RestoreTerms, clock: Clock): Promise<RestoreView | Refused> {
  return onClosedFolder(terms.folder, clock, () => restoreView(restoreBooks({ ...terms, clock })));
}
