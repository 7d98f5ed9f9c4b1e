import { LIMITS } from '../../limits.ts';
import { type ProviderKeyColumns, providerKeyOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import { afterOf, limitOf } from '../page.ts';
import type { AuditRow } from '../people.ts';
import { isClosed } from '../programs/account-state.ts';
import { writeAudit } from '../programs/audit.ts';
import type { NewProviderKey, ProviderKeyPut, ProviderKeyRow, ProviderKeyUse } from '../store.ts';
import type { Connections } from './connections.ts';
import { runProgram } from './directory.ts';
import { BEGIN_BRIEF } from './locks.ts';

export class ProviderKeys {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  put(row: NewProviderKey, audit?: AuditRow, replaces?: bigint): Promise<ProviderKeyPut> {
    const { id, accountId, provider, baseUrl, lastFour, createdMs, verifiedMs } = row;
    return this.#connections.transaction(async (sql) => {
      if (await runProgram(sql, isClosed(accountId))) return 'account_closed';
      if (replaces !== undefined) {
        const still = 'SELECT 1 FROM provider_key WHERE account_id = $1 AND provider = $2 AND id = $3 FOR UPDATE';
        if ((await sql(still, [accountId, provider, replaces])).length === 0) return 'changed';
      }
      await sql(
        `INSERT INTO provider_key (id, account_id, provider, base_url, last_four, sealed, created_ms, verified_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (account_id, provider) DO UPDATE SET id = excluded.id, base_url = excluded.base_url,
           last_four = excluded.last_four, sealed = excluded.sealed, verified_ms = excluded.verified_ms,
           rejected_ms = NULL, used_ms = NULL`,
        [id, accountId, provider, baseUrl, lastFour, Buffer.from(row.sealed), createdMs, verifiedMs],
      );
      if (audit !== undefined) await runProgram(sql, writeAudit(audit));
      return 'stored';
    }, BEGIN_BRIEF);
  }

  async noteUse(id: bigint, { usedMs, rejected }: ProviderKeyUse): Promise<void> {
    await this.#connections.query(
      `UPDATE provider_key SET used_ms = $2::int8, rejected_ms =
         CASE $3::bool WHEN true THEN coalesce(rejected_ms, $2::int8) WHEN false THEN NULL ELSE rejected_ms END
       WHERE id = $1`,
      [id, usedMs, rejected ?? null],
    );
  }

  async find(accountId: bigint, provider: string): Promise<ProviderKeyRow | null> {
    if (!fitsInt64(accountId)) return null;
    const [row] = await this.#connections.queryToAdmit<ProviderKeyColumns>(
      'SELECT * FROM provider_key WHERE account_id = $1 AND provider = $2',
      [accountId, provider],
    );
    return row === undefined ? null : providerKeyOf(row);
  }

  async list(accountId: bigint): Promise<ProviderKeyRow[]> {
    if (!fitsInt64(accountId)) return [];
    return this.#read('WHERE account_id = $1 ORDER BY provider LIMIT $2', [accountId, LIMITS.storePageRowsMax]);
  }

  after(id: bigint | null, limit: number): Promise<ProviderKeyRow[]> {
    const page = { after: id, limit };
    return this.#read('WHERE id > $1 ORDER BY id LIMIT $2', [afterOf(page), limitOf(page)]);
  }

  async delete(accountId: bigint, provider: string, audit?: AuditRow): Promise<boolean> {
    const gone = await this.#audited(
      audit,
      'DELETE FROM provider_key WHERE account_id = $1 AND provider = $2 RETURNING 1',
      [accountId, provider],
    );
    return gone.length === 1;
  }

  /** Compare and swap: re-encrypting must not undo a change that the owner made meanwhile. */
  async reseal(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean> {
    const changed = await this.#connections.query(
      'UPDATE provider_key SET sealed = $3 WHERE id = $1 AND sealed = $2 RETURNING 1',
      [id, Buffer.from(before), Buffer.from(after)],
    );
    return changed.length === 1;
  }

  /** A change of one row, and its row of the audit in the same commit; none if nothing was changed. */
  #audited(audit: AuditRow | undefined, sql: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    if (audit === undefined) return this.#connections.query(sql, values);
    return this.#connections.transaction(async (query) => {
      const changed = await query(sql, values);
      if (changed.length > 0) await runProgram(query, writeAudit(audit));
      return changed;
    });
  }

  async #read(rest: string, values: readonly unknown[]): Promise<ProviderKeyRow[]> {
    const rows = await this.#connections.query<ProviderKeyColumns>(`SELECT * FROM provider_key ${rest}`, values);
    return rows.map(providerKeyOf);
  }
}
