import { LIMITS } from '../../limits.ts';
import type { Credit } from '../entries.ts';
import type { AuditRow } from '../people.ts';
import type { BooksMark, ReceiptKey } from '../signing.ts';
import { insertAudit } from './audit.ts';
import { type CreditColumns, creditOf } from './entries.ts';
import { type Program, rowOf, rowsOf } from './program.ts';

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

export function* listRefunds(callId: bigint): Program<Credit[]> {
  const text = 'SELECT * FROM credit WHERE call_id = ? ORDER BY id LIMIT ?';
  return (yield* rowsOf<CreditColumns>(text, callId, LIMITS.storePageRowsMax)).map(creditOf);
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
