import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { type ProviderKeyColumns, providerKeyOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import { afterOf, limitOf } from '../page.ts';
import { isClosed } from '../programs/account-state.ts';
import type { NewProviderKey, ProviderKeyPut, ProviderKeyRow, ProviderKeyUse } from '../store.ts';
import { runProgram } from './directory.ts';

export function putProviderKey(database: DatabaseSync, row: NewProviderKey, replaces?: bigint): ProviderKeyPut {
  if (runProgram(database, isClosed(row.accountId))) return 'account_closed';
  const before = database
    .prepare(
      'DELETE FROM provider_key WHERE account_id = ?1 AND provider = ?2 AND id = coalesce(?3, id) RETURNING created_ms',
    )
    .get(row.accountId, row.provider, replaces ?? null);
  if (replaces !== undefined && before === undefined) return 'changed';
  const createdMs = (before?.created_ms as bigint | undefined) ?? BigInt(row.createdMs);
  database
    .prepare(
      `INSERT INTO provider_key (id, account_id, provider, base_url, last_four, sealed, created_ms, verified_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(row.id, row.accountId, row.provider, row.baseUrl, row.lastFour, row.sealed, createdMs, BigInt(row.verifiedMs));
  return 'stored';
}

export function noteProviderKeyUse(database: DatabaseSync, id: bigint, { usedMs, rejected }: ProviderKeyUse): void {
  const note = database.prepare(
    `UPDATE provider_key SET used_ms = ?1, rejected_ms =
       CASE ?2 WHEN 1 THEN coalesce(rejected_ms, ?1) WHEN 0 THEN NULL ELSE rejected_ms END WHERE id = ?3`,
  );
  note.run(BigInt(usedMs), rejected === undefined ? null : BigInt(rejected), id);
}

export function deleteProviderKey(database: DatabaseSync, accountId: bigint, provider: string): boolean {
  const remove = database.prepare('DELETE FROM provider_key WHERE account_id = ? AND provider = ?');
  return remove.run(accountId, provider).changes === 1n;
}

/** Compare and swap: re-encrypting must not undo a change that the owner made meanwhile. */
export function resealProviderKey(database: DatabaseSync, id: bigint, before: Uint8Array, after: Uint8Array): boolean {
  const reseal = database.prepare('UPDATE provider_key SET sealed = ? WHERE id = ? AND sealed = ?');
  return reseal.run(after, id, before).changes === 1n;
}

export class ProviderKeyReader {
  readonly #one: StatementSync;
  readonly #ofAccount: StatementSync;
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
    this.#one = database.prepare('SELECT * FROM provider_key WHERE account_id = ? AND provider = ?');
    this.#ofAccount = database.prepare('SELECT * FROM provider_key WHERE account_id = ? ORDER BY provider LIMIT ?');
    this.#page = database.prepare('SELECT * FROM provider_key WHERE id > ? ORDER BY id LIMIT ?');
  }

  find(accountId: bigint, provider: string): ProviderKeyRow | null {
    const row = fitsInt64(accountId) ? this.#one.get(accountId, provider) : undefined;
    return row === undefined ? null : providerKeyOf(row as unknown as ProviderKeyColumns);
  }

  list(accountId: bigint): ProviderKeyRow[] {
    if (!fitsInt64(accountId)) return [];
    return rowsOf(this.#ofAccount.all(accountId, BigInt(LIMITS.storePageRowsMax)));
  }

  after(id: bigint | null, limit: number): ProviderKeyRow[] {
    const page = { after: id, limit };
    return rowsOf(this.#page.all(afterOf(page), limitOf(page)));
  }
}

function rowsOf(rows: readonly unknown[]): ProviderKeyRow[] {
  return (rows as readonly ProviderKeyColumns[]).map(providerKeyOf);
}
