import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { permissionBits, windowId, windowOfId } from '../codes.ts';
import { KEY_SELECT, type KeyColumns, keyCells, keyOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import type { KeySpending } from '../key-uses.ts';
import { afterOf, limitOf } from '../page.ts';
import type { AuditRow } from '../people.ts';
import { keyRefusal } from '../programs/memberships.ts';
import { mayStillChangeKey, mayStillChangeStored } from '../programs/standing.ts';
import type { CapWindow, ChangedKey, KeyChange, KeyCreation, KeyRow, KeyWindow, NewKey, Page } from '../store.ts';
import { KEY_WINDOW } from '../window-tables.ts';
import { runProgram } from './directory.ts';
import { HELD_OF_WINDOW, HeldSums } from './held.ts';
import { readMeta } from './meta.ts';

/** Every change of any key takes the next version number, so that a cache can ask for changes. */
const NEXT_VERSION = '(SELECT coalesce(max(version), 0) + 1 FROM api_key)';

export function createKey(database: DatabaseSync, key: NewKey, audit: AuditRow | undefined): KeyCreation {
  if (audit !== undefined && !runProgram(database, mayStillChangeKey(audit, key, { allow: key.permissions })))
    return 'not_allowed';
  if (database.prepare('SELECT 1 FROM account WHERE id = ?').get(key.accountId) === undefined) return 'no_account';
  const refusal = key.personId === null ? null : runProgram(database, keyRefusal(key.accountId, key.personId));
  if (refusal !== null) return refusal;
  const cells = keyCells({ ...key, revokedMs: null });
  const columns = Object.keys(cells);
  const insert = `INSERT INTO api_key (id, account_id, person_id, sha256, prefix, last_four, created_ms, permissions, version, ${columns})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_VERSION}, ${columns.map(() => '?')})`;
  database
    .prepare(insert)
    .run(
      key.id,
      key.accountId,
      key.personId,
      key.sha256Hex,
      key.prefix,
      key.lastFour,
      BigInt(key.createdMs),
      permissionBits(key.permissions),
      ...Object.values(cells),
    );
  return 'created';
}

export function updateKey(
  database: DatabaseSync,
  id: bigint,
  change: KeyChange,
  expectedVersion: bigint | null,
  audit: AuditRow | undefined,
): ChangedKey {
  if (audit !== undefined && !runProgram(database, mayStillChangeStored(audit, id, change))) return 'not_allowed';
  const keys = new KeyReader(database);
  if (expectedVersion !== null && (keys.find(id)?.version ?? expectedVersion) !== expectedVersion)
    return 'version_conflict';
  const cells = keyCells(change);
  const changes = Object.keys(cells).map((column) => `${column} = ?, `);
  const update = `UPDATE api_key SET ${changes.join('')} permissions = (permissions | ?) & ~ ?, version = ${NEXT_VERSION}
    WHERE id = ?`;
  const bits = [permissionBits(change.allow), permissionBits(change.deny)];
  database.prepare(update).run(...Object.values(cells), ...bits, id);
  return keys.find(id);
}

export class KeyReader {
  readonly #byId: StatementSync;
  readonly #byHash: StatementSync;
  readonly #page: StatementSync;
  readonly #pageOfAccount: StatementSync;
  readonly #changed: StatementSync;
  readonly #version: StatementSync;
  readonly #today: StatementSync;
  readonly #window: StatementSync;

  constructor(database: DatabaseSync) {
    this.#byId = database.prepare(`${KEY_SELECT} WHERE id = ?`);
    this.#byHash = database.prepare(`${KEY_SELECT} WHERE id = (
      SELECT id FROM api_key WHERE sha256 = ?1 UNION ALL SELECT key_id FROM key_secret WHERE sha256 = ?1)`);
    this.#page = database.prepare(`${KEY_SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
    this.#pageOfAccount = database.prepare(`${KEY_SELECT} WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`);
    this.#changed = database.prepare(`${KEY_SELECT} WHERE version > ? ORDER BY version LIMIT ?`);
    this.#version = database.prepare('SELECT coalesce(max(version), 0) AS version FROM api_key');
    this.#today = database.prepare("SELECT value FROM meta WHERE name = 'today_ms'");
    this.#window = database.prepare(
      `SELECT spent, reserved, ${HELD_OF_WINDOW} AS held FROM key_window WHERE key_id = ? AND window_id = ?`,
    );
  }

  find(id: bigint): KeyRow | null {
    return fitsInt64(id) ? keyOrNull(this.#byId.get(id)) : null;
  }

  findByHash(sha256Hex: string): KeyRow | null {
    return keyOrNull(this.#byHash.get(sha256Hex));
  }

  list(accountId: bigint | null, page: Page): KeyRow[] {
    const rows =
      accountId === null
        ? this.#page.all(afterOf(page), limitOf(page))
        : this.#pageOfAccount.all(accountId, afterOf(page), limitOf(page));
    return (rows as unknown as KeyColumns[]).map(keyOf);
  }

  changedSince(version: bigint | null): { version: bigint; keys: KeyRow[] } {
    if (version === null) return { version: this.#version.get()?.version as bigint, keys: [] };
    const rows = this.#changed.all(version, BigInt(LIMITS.storePageRowsMax)) as unknown as KeyColumns[];
    const keys = rows.map(keyOf);
    return { version: keys.at(-1)?.version ?? version, keys };
  }

  window(keyId: bigint, nowMs: number): KeyWindow | null {
    const key = this.find(keyId);
    if (key === null) return null;
    const todayMs = Number(this.#today.get()?.value ?? 0n);
    const id = windowId(key.capWindow, Math.max(nowMs, todayMs));
    const row = this.#window.get(keyId, id) as Record<string, bigint> | undefined;
    const { spent = 0n, held = 0n, reserved = 0n } = row ?? {};
    return { ...windowOfId(id), spentNanousd: spent, heldNanousd: held, reservedNanousd: reserved };
  }
}

/** Adds up the open calls once, not once per key. */
export function spendingOf(
  database: DatabaseSync,
  keys: readonly { readonly id: bigint; readonly capWindow: CapWindow }[],
  nowMs: number,
): ReadonlyMap<bigint, KeySpending> {
  const held = new HeldSums(database);
  const spent = database.prepare('SELECT spent, reserved FROM key_window WHERE key_id = ? AND window_id = ?');
  const timeMs = Math.max(nowMs, Number(readMeta(database, 'today_ms')));
  return new Map(
    keys.map(({ id, capWindow }) => {
      const window = windowId(capWindow, timeMs);
      const row = (spent.get(id, window) ?? {}) as Readonly<Record<string, bigint>>;
      const { spent: spentNanousd = 0n, reserved: reservedNanousd = 0n } = row;
      const heldNanousd = held.ofWindow(KEY_WINDOW, [id], window);
      return [id, { spentNanousd, heldNanousd, reservedNanousd, resetsMs: windowOfId(window).resetsMs }];
    }),
  );
}

function keyOrNull(row: unknown): KeyRow | null {
  return row === undefined ? null : keyOf(row as KeyColumns);
}
