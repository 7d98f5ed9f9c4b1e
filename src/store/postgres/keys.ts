import { LIMITS } from '../../limits.ts';
import { permissionBits, windowId, windowOfId } from '../codes.ts';
import { KEY_SELECT, type KeyColumns, keyCells, keyOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import type { Rotation, RotationOutcome } from '../key-secrets.ts';
import type { KeySpending } from '../key-uses.ts';
import { afterOf, limitOf } from '../page.ts';
import type { AuditRow } from '../people.ts';
import { writeAudit } from '../programs/audit.ts';
import { rotateKey } from '../programs/key-rotation.ts';
import { noteKeyUses } from '../programs/key-uses.ts';
import { keyRefusal } from '../programs/memberships.ts';
import { mayStillChangeKey, mayStillChangeStored } from '../programs/standing.ts';
import type { CapWindow, ChangedKey, KeyChange, KeyCreation, KeyRow, KeyWindow, NewKey, Page } from '../store.ts';
import type { Connections } from './connections.ts';
import { runProgram } from './directory.ts';
import { BEGIN_BRIEF, takeLock } from './locks.ts';

/** Changes are serialized, so that versions become visible in order and a polling cache misses none. */
const NEXT_VERSION = '(SELECT coalesce(max(version), 0) + 1 FROM api_key)';

/** A key never changes its account. */
const LOCK_ACCOUNT_OF_KEY = `
  SELECT 1 FROM balance WHERE account_id = (SELECT account_id FROM api_key WHERE id = $1) FOR NO KEY UPDATE`;

export class Keys {
  readonly #connections: Connections;
  readonly #nowMs: () => number;

  constructor(connections: Connections, nowMs: () => number) {
    this.#connections = connections;
    this.#nowMs = nowMs;
  }

  create(key: NewKey, audit?: AuditRow): Promise<KeyCreation> {
    const cells = keyCells({ ...key, revokedMs: null });
    const fixed = ['id', 'account_id', 'person_id', 'sha256', 'prefix', 'last_four', 'created_ms', 'permissions'];
    const columns = [...fixed, ...Object.keys(cells)];
    const values = [
      key.id,
      key.accountId,
      key.personId,
      key.sha256Hex,
      key.prefix,
      key.lastFour,
      key.createdMs,
      permissionBits(key.permissions),
      ...Object.values(cells),
    ];
    return this.#connections.transaction(async (sql) => {
      if (audit !== undefined) {
        const grants = { allow: key.permissions };
        if (!(await runProgram(sql, mayStillChangeKey(audit, key, grants)))) return 'not_allowed';
      }
      await takeLock(sql, 'keys');
      const [account] = await sql('SELECT 1 FROM account WHERE id = $1', [key.accountId]);
      if (account === undefined) return 'no_account';
      const refusal = key.personId === null ? null : await runProgram(sql, keyRefusal(key.accountId, key.personId));
      if (refusal !== null) return refusal;
      const places = columns.map((_, at) => `$${at + 1}`);
      await sql(`INSERT INTO api_key (${columns}, version) VALUES (${places}, ${NEXT_VERSION})`, values);
      if (audit !== undefined) await runProgram(sql, writeAudit(audit));
      return 'created';
    }, BEGIN_BRIEF);
  }

  /** Under the account's lock: a batch reads a key and then its window, and both must be from the same moment. */
  update(
    id: bigint,
    change: KeyChange,
    audit: AuditRow | undefined,
    expectedVersion: bigint | null,
  ): Promise<ChangedKey> {
    const cells = keyCells(change);
    const changes = Object.keys(cells).map((column, at) => `${column} = $${at + 4}, `);
    return this.#connections.transaction(async (sql) => {
      if (audit !== undefined && !(await runProgram(sql, mayStillChangeStored(audit, id, change))))
        return 'not_allowed';
      await sql(LOCK_ACCOUNT_OF_KEY, [id]);
      await takeLock(sql, 'keys');
      if (expectedVersion !== null) {
        const [before] = await sql<{ version: bigint }>('SELECT version FROM api_key WHERE id = $1', [id]);
        if (before !== undefined && before.version !== expectedVersion) return 'version_conflict';
      }
      await sql(
        `UPDATE api_key SET ${changes.join('')} permissions = (permissions | $2) & ~ $3::int8, version = ${NEXT_VERSION}
         WHERE id = $1`,
        [id, permissionBits(change.allow), permissionBits(change.deny), ...Object.values(cells)],
      );
      const [row] = await sql<KeyColumns>(`${KEY_SELECT} WHERE id = $1`, [id]);
      if (row === undefined) return null;
      if (audit !== undefined) await runProgram(sql, writeAudit(audit));
      return keyOf(row);
    }, BEGIN_BRIEF);
  }

  rotate(id: bigint, rotation: Rotation, audit?: AuditRow): Promise<RotationOutcome> {
    return this.#connections.transaction((sql) => runProgram(sql, rotateKey(id, rotation, audit)), BEGIN_BRIEF);
  }

  async find(id: bigint): Promise<KeyRow | null> {
    return fitsInt64(id) ? this.#one('id = $1', id) : null;
  }

  findByHash(sha256Hex: string): Promise<KeyRow | null> {
    const ids = 'SELECT id FROM api_key WHERE sha256 = $1 UNION ALL SELECT key_id FROM key_secret WHERE sha256 = $1';
    return this.#one(`id = (${ids})`, sha256Hex);
  }

  async list(accountId: bigint | null, page: Page): Promise<KeyRow[]> {
    const rows = await this.#connections.query<KeyColumns>(
      `${KEY_SELECT} WHERE ($1::int8 IS NULL OR account_id = $1) AND id > $2 ORDER BY id LIMIT $3`,
      [accountId, afterOf(page), limitOf(page)],
    );
    return rows.map(keyOf);
  }

  async changedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }> {
    if (version === null) {
      const [row] = await this.#connections.queryToAdmit<{ version: bigint }>(
        'SELECT coalesce(max(version), 0) AS version FROM api_key',
      );
      return { version: row!.version, keys: [] };
    }
    const rows = await this.#connections.queryToAdmit<KeyColumns>(
      `${KEY_SELECT} WHERE version > $1 ORDER BY version LIMIT $2`,
      [version, LIMITS.storePageRowsMax],
    );
    const keys = rows.map(keyOf);
    return { version: keys.at(-1)?.version ?? version, keys };
  }

  async window(keyId: bigint): Promise<KeyWindow | null> {
    const key = await this.find(keyId);
    if (key === null) return null;
    const id = windowId(key.capWindow, Math.max(this.#nowMs(), await this.#todayMs()));
    const [row] = await this.#connections.query<Record<string, bigint>>(
      'SELECT spent, held, reserved FROM key_window WHERE key_id = $1 AND window_id = $2',
      [keyId, id],
    );
    const { spent = 0n, held = 0n, reserved = 0n } = row ?? {};
    return { ...windowOfId(id), spentNanousd: spent, heldNanousd: held, reservedNanousd: reserved };
  }

  async spendingOf(
    keys: readonly { readonly id: bigint; readonly capWindow: CapWindow }[],
  ): Promise<ReadonlyMap<bigint, KeySpending>> {
    const timeMs = Math.max(this.#nowMs(), await this.#todayMs());
    const windows = keys.map(({ capWindow }) => windowId(capWindow, timeMs));
    const rows = await this.#connections.query<{ key_id: bigint; spent: bigint; held: bigint; reserved: bigint }>(
      `SELECT key_id, spent, held, reserved FROM key_window
       WHERE (key_id, window_id) IN (SELECT * FROM unnest($1::int8[], $2::int4[]))`,
      [keys.map(({ id }) => id), windows],
    );
    const spending = new Map(rows.map((row) => [row.key_id, row]));
    return new Map(
      keys.map(({ id }, at) => {
        const { spent, held, reserved } = spending.get(id) ?? NO_SPENDING;
        const { resetsMs } = windowOfId(windows[at]!);
        return [id, { spentNanousd: spent, heldNanousd: held, reservedNanousd: reserved, resetsMs }];
      }),
    );
  }

  noteUses(uses: ReadonlyMap<bigint, number>): Promise<void> {
    return this.#connections.transaction((sql) => runProgram(sql, noteKeyUses(uses)), BEGIN_BRIEF);
  }

  async #todayMs(): Promise<number> {
    const [today] = await this.#connections.query<{ value: bigint }>("SELECT value FROM meta WHERE name = 'today_ms'");
    return Number(today!.value);
  }

  async #one(condition: string, value: bigint | string): Promise<KeyRow | null> {
    const [row] = await this.#connections.queryToAdmit<KeyColumns>(`${KEY_SELECT} WHERE ${condition}`, [value]);
    return row === undefined ? null : keyOf(row);
  }
}

const NO_SPENDING = { spent: 0n, held: 0n, reserved: 0n };
