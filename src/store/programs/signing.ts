import { LIMITS } from '../../limits.ts';
import type { Credit } from '../entries.ts';
import { type ClosedMonth, MONTH_PART, type MonthTreeRow } from '../month-tree.ts';
import type { AuditRow } from '../people.ts';
import type { AccountMonth, BooksMark, MonthRoot, ReceiptKey, SignedMonth } from '../signing.ts';
import { insertAudit } from './audit.ts';
import { type CreditColumns, creditOf } from './entries.ts';
import { type Program, query, rowOf, rowsOf } from './program.ts';

interface ReceiptKeyColumns {
  readonly number: bigint;
  readonly id: bigint;
  readonly public_key: Uint8Array;
  readonly sealed: Uint8Array;
  readonly created_ms: bigint;
  readonly from_ms: bigint;
}

export function* booksMark(): Program<BooksMark> {
  const rows = yield* rowsOf<{ name: string; value: bigint }>(
    "SELECT name, value FROM meta WHERE name IN ('books_id', 'generation')",
  );
  const metaOf = (wanted: string): bigint => rows.find(({ name }) => name === wanted)?.value ?? 0n;
  return { booksId: metaOf('books_id'), generation: metaOf('generation') };
}

export function* receiptKeys(): Program<ReceiptKey[]> {
  const rows = yield* rowsOf<ReceiptKeyColumns>('SELECT * FROM receipt_key ORDER BY number');
  return rows.map(keyOf);
}

export function* addReceiptKey(key: ReceiptKey, audit: AuditRow | null): Program<boolean> {
  const added = yield* rowOf<{ number: bigint }>(
    `INSERT INTO receipt_key (number, id, public_key, sealed, created_ms, from_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (number) DO NOTHING RETURNING number`,
    ...[key.number, key.id, key.publicKey, key.sealed, key.createdMs, key.fromMs],
  );
  if (added !== null && audit !== null) yield insertAudit(audit);
  return added !== null;
}

export function* receiptKeysAfter(id: bigint | null, limit: number): Program<ReceiptKey[]> {
  const text = 'SELECT * FROM receipt_key WHERE id > ? ORDER BY id LIMIT ?';
  return (yield* rowsOf<ReceiptKeyColumns>(text, id ?? 0n, limit)).map(keyOf);
}

export function* resealReceiptKey(id: bigint, before: Uint8Array, after: Uint8Array): Program<boolean> {
  const changed = yield* rowOf(
    'UPDATE receipt_key SET sealed = ? WHERE id = ? AND sealed = ? RETURNING id',
    after,
    id,
    before,
  );
  return changed !== null;
}

export function* pricesOf(version: string): Program<string | null> {
  const row = yield* rowOf<{ prices: string }>('SELECT prices FROM price_list WHERE version = ?', version);
  return row?.prices ?? null;
}

export function* listRefunds(callId: bigint, after: bigint | null): Program<Credit[]> {
  const text = 'SELECT * FROM credit WHERE call_id = ? AND id > ? ORDER BY id LIMIT ?';
  return (yield* rowsOf<CreditColumns>(text, callId, after ?? 0n, LIMITS.storePageRowsMax)).map(creditOf);
}

function keyOf(row: ReceiptKeyColumns): ReceiptKey {
  return {
    number: Number(row.number),
    id: row.id,
    publicKey: row.public_key,
    sealed: row.sealed,
    createdMs: Number(row.created_ms),
    fromMs: Number(row.from_ms),
  };
}

export function* closedMonths(): Program<SignedMonth[]> {
  const rows = yield* rowsOf<ClosedMonth>('SELECT * FROM closed_month ORDER BY month_ms');
  return rows.map(({ month_ms, up_to }) => ({ monthMs: Number(month_ms), upTo: up_to }));
}

export function* monthAccounts(monthMs: number): Program<AccountMonth[]> {
  const rows = yield* rowsOf<MonthTreeRow>(
    'SELECT account_id, calls, spent, root FROM month_tree WHERE month_ms = ? AND part = ?',
    monthMs,
    MONTH_PART.closed,
  );
  return rows.map(({ account_id, calls, spent, root }) => ({
    accountId: account_id,
    receipts: Number(calls),
    spentNanousd: spent,
    root,
  }));
}

export function* monthSalt(monthMs: number, fresh: Uint8Array): Program<Uint8Array> {
  yield query(
    'INSERT INTO month_salt (month_ms, salt) VALUES (?, ?) ON CONFLICT (month_ms) DO NOTHING',
    monthMs,
    fresh,
  );
  const row = yield* rowOf<{ salt: Uint8Array }>('SELECT salt FROM month_salt WHERE month_ms = ?', monthMs);
  return row!.salt;
}

interface MonthRootColumns {
  readonly number: bigint;
  readonly generation: bigint;
  readonly month_ms: bigint;
  readonly is_final: bigint;
  readonly root: Uint8Array;
  readonly statement: string;
  readonly created_ms: bigint;
}

export function* lastMonthRoot(monthMs: number | null): Program<MonthRoot | null> {
  const text = 'SELECT * FROM month_root';
  const last = 'ORDER BY number DESC LIMIT 1';
  const row =
    monthMs === null
      ? yield* rowOf<MonthRootColumns>(`${text} ${last}`)
      : yield* rowOf<MonthRootColumns>(`${text} WHERE month_ms = ? ${last}`, monthMs);
  if (row === null) return null;
  return {
    number: Number(row.number),
    generation: row.generation,
    monthMs: Number(row.month_ms),
    isFinal: row.is_final !== 0n,
    root: row.root,
    statement: row.statement,
    createdMs: Number(row.created_ms),
  };
}

export function* addMonthRoot(added: MonthRoot): Program<boolean> {
  const { number, generation, monthMs, isFinal, root, statement, createdMs } = added;
  const row = yield* rowOf(
    `INSERT INTO month_root (number, generation, month_ms, is_final, root, statement, created_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO NOTHING RETURNING number`,
    ...[number, generation, monthMs, isFinal ? 1 : 0, root, statement, createdMs],
  );
  return row !== null;
}
