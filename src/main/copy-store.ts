import type { CopyTerms, Refused } from '../cli/composition.ts';
import { readStore } from '../config/store.ts';
import type { Clock } from '../kit/clock.ts';
import { type CopiedView, type CopyView, copyView } from '../operator/store.ts';
import { CopyRefused, copyLedger } from '../store/copy.ts';
import { openPostgresTarget } from '../store/postgres/copy-target.ts';
import { hasDatabase, openSqliteSource } from '../store/sqlite/copy-source.ts';
import { markMoved, whyMoved } from '../store/sqlite/moved-ledger.ts';
import { lockClosedFolder } from './closed-folder.ts';

/** Copies the ledger of a locked folder into an empty database, and marks the folder as moved. */
export async function copyStore(
  { from, to, progress }: CopyTerms,
  clock: Clock,
): Promise<CopyView | CopiedView | Refused> {
  if (!hasDatabase(from)) return { refused: `There is no ledger in ${from}.`, unreachable: true };
  const lock = lockClosedFolder(from, clock);
  if ('refused' in lock) return lock;
  const opened: { close(): Promise<void> }[] = [];
  try {
    const target = await openPostgresTarget({ url: to, clock });
    opened.push(target);
    const source = await openSqliteSource({ folder: from, clock });
    opened.push(source);
    const leave = (): void => markMoved(from, readStore(to)?.name ?? 'PostgreSQL', clock.nowMs());
    return copyView(await copyLedger(source, target, progress, { moved: whyMoved(from), leave }));
  } catch (error) {
    if (error instanceof CopyRefused) return { refused: error.message };
    throw error;
  } finally {
    for (const one of opened.reverse()) await one.close();
    lock.release();
  }
}
