import type { BooksMark } from '../copy.ts';
import { StoreRefused } from '../store.ts';
import type { RunSql } from './connections.ts';

/** The copy that is under way; null where there is none. */
export async function readCopy(sql: RunSql): Promise<BooksMark | null> {
  const rows = await sql<{ name: string; value: bigint }>("SELECT name, value FROM meta WHERE name LIKE 'copy%'");
  const meta = new Map(rows.map(({ name, value }) => [name, value]));
  const [booksId, epoch] = [meta.get('copy_books_id'), meta.get('copy_epoch')];
  return booksId === undefined || epoch === undefined ? null : { booksId, epoch };
}

export async function writeCopy(sql: RunSql, { booksId, epoch }: BooksMark): Promise<void> {
  await sql(
    `INSERT INTO meta VALUES ('copy_books_id', $1), ('copy_epoch', $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [booksId, epoch],
  );
}

export async function deleteCopy(sql: RunSql): Promise<void> {
  await sql("DELETE FROM meta WHERE name IN ('copy_books_id', 'copy_epoch')");
}

/** Nobody may serve from a part of the books. Asked by who has the lock of the instances. */
export async function refuseUnfinished(sql: RunSql): Promise<void> {
  if ((await readCopy(sql)) === null) return;
  throw new StoreRefused(
    'The database holds a copy of books that is not finished: run "tollgate store copy" again, with the same books.',
  );
}
