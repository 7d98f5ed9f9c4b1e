import type { CopyTerms, Refused } from '../cli/composition.ts';
import { readStore } from '../config/store.ts';
import type { Clock } from '../kit/clock.ts';
import { type CopiedView, type CopyView, copyView } from '../operator/store.ts';
import { CopyRefused, copyLedger } from '../store/copy.ts';
import { openPostgresTarget } from '../store/postgres/copy-target.ts';
import { hasLedger, openSqliteSource } from '../store/sqlite/copy-source.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { markMoved, whyMoved } from '../store/sqlite/moved-ledger.ts';
import { FolderHeld } from './books.ts';

/** Copies the ledger of a locked folder into an empty database, and marks the folder as moved. */
export async function copyStore(
  { from, to, progress }: CopyTerms,
  clock: Clock,
): Promise<CopyView | CopiedView | Refused> {
  if (!hasLedger(from)) return { refused: `There is no ledger in ${from}.`, unreachable: true };
  const holder = { pid: process.pid, url: null, socketPath: null, startedMs: clock.nowMs() };
  const lock = lockFolder(from, holder);
  if ('heldBy' in lock) return { refused: new FolderHeld(from, lock.heldBy).message, unreachable: true };
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
