import type { LedgerMark } from '../copy.ts';
import { StoreRefused } from '../store.ts';
import type { RunSql } from './connections.ts';

/** The copy in progress, or the one that was finished here; null if there is none. */
export async function readCopy(sql: RunSql, which: 'copy' | 'copied' = 'copy'): Promise<LedgerMark | null> {
  const names = [`${which}_books_id`, `${which}_epoch`];
  const rows = await sql<{ name: string; value: bigint }>('SELECT name, value FROM meta WHERE name = ANY($1::text[])', [
    names,
  ]);
  const meta = new Map(rows.map(({ name, value }) => [name, value]));
  const [ledgerId, epoch] = names.map((name) => meta.get(name));
  return ledgerId === undefined || epoch === undefined ? null : { ledgerId, epoch };
}

export async function writeCopy(sql: RunSql, { ledgerId, epoch }: LedgerMark): Promise<void> {
  await sql(
    `INSERT INTO meta VALUES ('copy_books_id', $1), ('copy_epoch', $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [ledgerId, epoch],
  );
}

/** Keeps the id of the copied ledger, so that copying it again is recognised. */
export async function finishCopy(sql: RunSql): Promise<void> {
  await sql("DELETE FROM meta WHERE name IN ('copied_books_id', 'copied_epoch')");
  await sql("UPDATE meta SET name = replace(name, 'copy_', 'copied_') WHERE name IN ('copy_books_id', 'copy_epoch')");
}

/** Refuses to serve from an unfinished copy. The caller holds the lock of the instances. */
export async function refuseUnfinished(sql: RunSql): Promise<void> {
  if ((await readCopy(sql)) === null) return;
  throw new StoreRefused(
    'The database contains a copy that is not finished. Run "tollgate store copy" again with the same source.',
  );
}
