import { ACCOUNT_ROLES, type AuditRow, type ManagementKey, type NewManagementKey } from '../people.ts';
import { writeAudit } from './audit.ts';
import { insert, type Program, query, rowOf, rowsOf } from './program.ts';
import { mayStill } from './standing.ts';

interface ManagementKeyColumns {
  readonly id: bigint;
  readonly sha256: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly name: string;
  readonly minted_by: bigint | null;
  readonly account_id: bigint | null;
  readonly role: bigint | null;
  readonly read_only: bigint;
  readonly created_ms: bigint;
  readonly expires_ms: bigint | null;
  readonly revoked_ms: bigint | null;
  readonly used_ms: bigint | null;
}

/** `not_allowed`: whoever mints it may no longer give what it gives. */
export function* createManagementKey(key: NewManagementKey, audit: AuditRow): Program<'created' | 'not_allowed'> {
  yield { lock: 'people' };
  if (!(yield* mayStill(audit, key.accountId))) return 'not_allowed';
  yield insert('management_key', {
    id: key.id,
    sha256: key.sha256Hex,
    prefix: key.prefix,
    last_four: key.lastFour,
    name: key.name,
    minted_by: key.mintedBy,
    account_id: key.accountId,
    role: key.role === null ? null : ACCOUNT_ROLES.indexOf(key.role),
    read_only: key.isReadOnly ? 1 : 0,
    created_ms: key.createdMs,
    expires_ms: key.expiresMs,
  });
  yield* writeAudit(audit);
  return 'created';
}

export function* findManagementKeyByHash(sha256Hex: string): Program<ManagementKey | null> {
  const row = yield* rowOf<ManagementKeyColumns>('SELECT * FROM management_key WHERE sha256 = ?', sha256Hex);
  return row === null ? null : managementKeyOf(row);
}

export function* findManagementKey(id: bigint): Program<ManagementKey | null> {
  const row = yield* rowOf<ManagementKeyColumns>('SELECT * FROM management_key WHERE id = ?', id);
  return row === null ? null : managementKeyOf(row);
}

/** The keys of one account; null: the keys of the gateway and of all accounts. */
export function* listManagementKeys(
  accountId: bigint | null,
  page: { readonly after: bigint | null; readonly limit: number },
): Program<ManagementKey[]> {
  const ofAccount = accountId === null ? '' : 'AND account_id = ?';
  const values = accountId === null ? [] : [accountId];
  const rows = yield* rowsOf<ManagementKeyColumns>(
    `SELECT * FROM management_key WHERE id > ? ${ofAccount} ORDER BY id LIMIT ?`,
    page.after ?? 0n,
    ...values,
    page.limit,
  );
  return rows.map(managementKeyOf);
}

/** Revoking again changes nothing: the first time stands. */
export function* revokeManagementKey(id: bigint, nowMs: number, audit: AuditRow): Program<ManagementKey | 'not_found'> {
  const before = yield* findManagementKey(id);
  if (before === null) return 'not_found';
  if (before.revokedMs !== null) return before;
  yield query('UPDATE management_key SET revoked_ms = ? WHERE id = ?', nowMs, id);
  yield* writeAudit(audit);
  return { ...before, revokedMs: nowMs };
}

/** Deletes keys that expired or were revoked before then, except those that made a link which is still stored. */
export function* forgetManagementKeys(endedBeforeMs: number, limit: number): Program<number> {
  const rows = yield* rowsOf(
    `DELETE FROM management_key WHERE id IN (
       SELECT id FROM management_key WHERE (expires_ms < ? OR revoked_ms < ?)
         AND NOT EXISTS (SELECT 1 FROM invitation WHERE made_with = management_key.id)
       ORDER BY id LIMIT ?) RETURNING id`,
    endedBeforeMs,
    endedBeforeMs,
    limit,
  );
  return rows.length;
}

/** Notes roughly when the key was last used. This is not audited. */
export function* touchManagementKey(id: bigint, usedMs: number): Program<void> {
  yield query('UPDATE management_key SET used_ms = ? WHERE id = ?', usedMs, id);
}

function managementKeyOf(row: ManagementKeyColumns): ManagementKey {
  return {
    id: row.id,
    sha256Hex: row.sha256,
    prefix: row.prefix,
    lastFour: row.last_four,
    name: row.name,
    mintedBy: row.minted_by,
    accountId: row.account_id,
    role: row.role === null ? null : ACCOUNT_ROLES[Number(row.role)]!,
    isReadOnly: row.read_only === 1n,
    createdMs: Number(row.created_ms),
    expiresMs: row.expires_ms === null ? null : Number(row.expires_ms),
    revokedMs: row.revoked_ms === null ? null : Number(row.revoked_ms),
    usedMs: row.used_ms === null ? null : Number(row.used_ms),
  };
}
