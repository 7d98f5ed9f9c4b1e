import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ACCOUNT_KIND } from '../codes.ts';
import { type AccountColumns, accountOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import { afterOf, limitOf } from '../page.ts';
import type { Account, NewAccount, Page } from '../store.ts';
import { FROM_OPEN_CALLS, HELD_OF_ACCOUNT } from './held.ts';

export function createAccount(database: DatabaseSync, account: NewAccount): 'created' | 'name_taken' {
  if (database.prepare('SELECT 1 FROM account WHERE name = ?').get(account.name) !== undefined) return 'name_taken';
  const kind = ACCOUNT_KIND.of[account.kind];
  database
    .prepare('INSERT INTO account (id, name, kind, created_ms) VALUES (?, ?, ?, ?)')
    .run(account.id, account.name, kind, BigInt(account.createdMs));
  database.prepare('INSERT INTO balance (account_id, kind, balance, spent) VALUES (?, ?, 0, 0)').run(account.id, kind);
  return 'created';
}

const COLUMNS =
  'id, name, account.kind AS kind, created_ms, balance, reserved, spent, loss_hour, lost, status, version';
const FROM_ACCOUNTS = 'FROM account JOIN balance ON balance.account_id = account.id';
const ONE = `SELECT ${COLUMNS}, ${HELD_OF_ACCOUNT} AS held ${FROM_ACCOUNTS}`;
/** Adds up the open calls once, not once per account. */
const MANY = `SELECT ${COLUMNS}, coalesce(held, 0) AS held ${FROM_ACCOUNTS}
  LEFT JOIN (SELECT account_id, sum(held) AS held ${FROM_OPEN_CALLS} GROUP BY account_id) AS open
    ON open.account_id = account.id`;

export class AccountReader {
  readonly #byId: StatementSync;
  readonly #byName: StatementSync;
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
    this.#byId = database.prepare(`${ONE} WHERE id = ?`);
    this.#byName = database.prepare(`${ONE} WHERE name = ?`);
    this.#page = database.prepare(`${MANY} WHERE id > ? ORDER BY id LIMIT ?`);
  }

  find(idOrName: bigint | string): Account | null {
    if (typeof idOrName === 'bigint' && !fitsInt64(idOrName)) return null;
    const row = typeof idOrName === 'bigint' ? this.#byId.get(idOrName) : this.#byName.get(idOrName);
    return row === undefined ? null : accountOf(row as unknown as AccountColumns);
  }

  list(page: Page): Account[] {
    const rows = this.#page.all(afterOf(page), limitOf(page)) as unknown as AccountColumns[];
    return rows.map(accountOf);
  }
}
