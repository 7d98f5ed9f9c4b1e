import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ACCOUNT_KIND } from '../codes.ts';
import { ACCOUNT_SELECT, type AccountColumns, accountOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import { afterOf, limitOf } from '../page.ts';
import type { Account, NewAccount, Page } from '../store.ts';
import { inTransaction } from './database.ts';

export function createAccount(database: DatabaseSync, account: NewAccount): 'created' | 'name_taken' {
  return inTransaction(database, () => {
    if (database.prepare('SELECT 1 FROM account WHERE name = ?').get(account.name) !== undefined) return 'name_taken';
    const kind = ACCOUNT_KIND.of[account.kind];
    database
      .prepare('INSERT INTO account VALUES (?, ?, ?, ?)')
      .run(account.id, account.name, kind, BigInt(account.createdMs));
    database.prepare('INSERT INTO balance VALUES (?, ?, 0, 0, 0)').run(account.id, kind);
    return 'created';
  });
}

export class AccountReader {
  readonly #byId: StatementSync;
  readonly #byName: StatementSync;
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
    this.#byId = database.prepare(`${ACCOUNT_SELECT} WHERE id = ?`);
    this.#byName = database.prepare(`${ACCOUNT_SELECT} WHERE name = ?`);
    this.#page = database.prepare(`${ACCOUNT_SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
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
